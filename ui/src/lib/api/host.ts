/** What stands behind the window: the program through Tauri, or a fake in the browser and in tests. */
import type { Topic } from './types';

export interface Host {
  /** Calls a method of the engine; rejects with a `WireFault`. */
  call(method: string, params: unknown): Promise<unknown>;
  /** Hears of changes; returns what ends the hearing. */
  listen(heard: (topics: Topic[]) => void): Promise<() => void>;
  /** The present time in ms. */
  now(): number;
}
