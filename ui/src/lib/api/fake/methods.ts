/** What the fake answers, by method. */
import type { All } from '../api.svelte';
import { reading } from './reading';
import { setting } from './setting';
import type { World } from './world';

/** Answers of the fake: typed as the methods are. */
export type Handlers = {
  [M in keyof All]?: (world: World, params: All[M][0]) => All[M][1] | Promise<All[M][1]>;
};
export const handlers = { ...reading, ...setting } as Record<
  string,
  ((world: World, params: never) => unknown) | undefined
>;
