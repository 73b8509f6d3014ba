/**
 * The host of the browser and of tests: everything in memory, deterministic, and as it would look full, empty,
 * troubled, failing or slow.
 */
import type { Host } from '../host';
import type { Topic, WireFault } from '../types';
import { NOW } from './clock';
import { handlers } from './methods';
import { World } from './world';

const MODES = [
  'full',
  'empty',
  'trouble',
  'error',
  'loading',
  /** Full, with the demo beside it. */
  'demo',
  'offline',
  'paused',
  /** The keychain cannot be read. */
  'locked',
  /** The program that watches does not run. */
  'down',
  /** The desktop shows no tray icon. */
  'notray',
] as const;
export type FakeMode = (typeof MODES)[number];
export const fakeMode = (word: string | null): FakeMode => MODES.find((mode) => mode === word) ?? 'full';

const gone: WireFault = {
  code: 'not_running',
  consequence: 'No mail is watched',
  cause: 'the program `ringonce` does not run',
  next_step: 'start `ringonce run --headless` in a terminal to see why',
};
/** Methods that answer even where the rest fails: without them there is no window at all. */
const ALWAYS = ['settings.list', 'app.about'];
const broken: WireFault = {
  code: 'storage',
  consequence: 'The data cannot be read',
  cause: 'the disk answered with an input/output error',
  next_step: 'check the disk and try again',
};
const unknown = (method: string): WireFault => ({
  code: 'not_found',
  consequence: 'Nothing was done',
  cause: `there is no method ${method}`,
  next_step: 'update Ringonce',
});

export class FakeHost implements Host {
  readonly world: World;
  readonly #mode: FakeMode;
  readonly #latency: number;
  readonly #listeners = new Set<(topics: Topic[]) => void>();
  /** What was called, for tests. */
  readonly calls: { method: string; params: unknown }[] = [];
  /** The program that watches has ended. */
  isGone = false;
  /** Methods a test makes fail. */
  readonly refusals = new Map<string, WireFault>();

  constructor(mode: FakeMode, latency = 0) {
    this.#mode = mode;
    this.#latency = latency;
    this.world = new World(mode, (topics) => this.change(topics));
  }

  async call(method: string, params: unknown): Promise<unknown> {
    this.calls.push({ method, params });
    if (this.#mode === 'loading' && !ALWAYS.includes(method)) return new Promise(() => {});
    if (this.#latency > 0) await new Promise((done) => setTimeout(done, this.#latency));
    if (this.#mode === 'error' && !ALWAYS.includes(method)) throw broken;
    if ((this.#mode === 'down' && !ALWAYS.includes(method)) || this.isGone) throw gone;
    const refusal = this.refusals.get(method);
    if (refusal) throw refusal;
    const handler = handlers[method];
    if (!handler) throw unknown(method);
    // What crosses the bridge is a copy.
    return structuredClone(await handler(this.world, (params ?? {}) as never));
  }

  listen(heard: (topics: Topic[]) => void): Promise<() => void> {
    this.#listeners.add(heard);
    return Promise.resolve(() => this.#listeners.delete(heard));
  }

  now(): number {
    return NOW;
  }

  change(topics: Topic[]): void {
    for (const heard of [...this.#listeners]) heard(topics);
  }
}
