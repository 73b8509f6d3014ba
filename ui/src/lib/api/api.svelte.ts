/** The one door to the engine: typed calls, and who is to be told of a change. */
import { getContext, setContext } from 'svelte';
import { SvelteDate } from 'svelte/reactivity';
import type { AppMethods } from './app';
import { asFault, type Fault } from './fault';
import type { Host } from './host';
import type { HistoryParams, HistoryRow, Methods, Page, Topic } from './types';

export type All = Methods & AppMethods;
export type MethodName = keyof All;
/** What narrows the history. */
export type HistoryFilter = Omit<HistoryParams, keyof Page>;

/** How often relative times are said anew. */
const TICK_MS = 10_000;
const KEY = Symbol('api');

export class Api {
  readonly #host: Host;
  readonly #heard = new Set<(topics: Topic[]) => void>();
  readonly #now = new SvelteDate();
  #stop: (() => void)[] = [];

  constructor(host: Host) {
    this.#host = host;
    this.#now.setTime(host.now());
  }

  /** Begins to hear and to tick; returns what ends both. */
  start(): () => void {
    const timer = setInterval(() => this.#now.setTime(this.#host.now()), TICK_MS);
    let ended = false;
    void this.#host.listen((topics) => this.#tell(topics)).then((end) => (ended ? end() : this.#stop.push(end)));
    return () => {
      ended = true;
      clearInterval(timer);
      for (const end of this.#stop.splice(0)) end();
    };
  }

  /** The present time in ms; reading it in a component keeps what is derived from it fresh. */
  get now(): number {
    return this.#now.getTime();
  }

  /** Calls a method; rejects with a `Fault`. */
  async call<M extends MethodName>(method: M, ...[params]: All[M][0] extends Record<string, never> ? [] : [All[M][0]]) {
    try {
      return (await this.#host.call(method, params ?? {})) as All[M][1];
    } catch (error) {
      throw asFault(error);
    }
  }

  /** A page of the history; what is empty narrows nothing. */
  history(page: Page, filter: HistoryFilter): Promise<HistoryRow[]> {
    const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value));
    return this.call('history.list', { ...page, ...given });
  }

  /** Hears when any of these topics is out of date. */
  on(topics: readonly Topic[], changed: () => void): () => void {
    const heard = (all: Topic[]) => {
      if (all.some((topic) => topics.includes(topic))) changed();
    };
    this.#heard.add(heard);
    return () => this.#heard.delete(heard);
  }

  #tell(topics: Topic[]): void {
    this.#now.setTime(this.#host.now());
    for (const heard of [...this.#heard]) heard(topics);
  }
}

export const provideApi = (api: Api): Api => setContext(KEY, api);
export const useApi = (): Api => getContext<Api>(KEY);
export type { Fault };
