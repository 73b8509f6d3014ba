/** Something fetched that is fetched again when what it shows changed. */
import { untrack } from 'svelte';
import type { Api } from './api.svelte';
import { asFault, type Fault } from './fault';
import type { Topic } from './types';

/** Shorter waits show nothing, so that a quick answer does not flash. */
const LATE_MS = 150;

export class Resource<T> {
  data = $state.raw<T | undefined>();
  error = $state.raw<Fault | undefined>();
  /** The first answer takes so long that a skeleton should stand there. */
  late = $state(false);
  readonly #fetch: () => Promise<T>;
  #asked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(fetch: () => Promise<T>) {
    this.#fetch = fetch;
  }

  /** Fetches; an answer that was overtaken by a later question is dropped. No effect comes to depend on it. */
  load(): Promise<void> {
    return untrack(() => this.#load());
  }

  async #load(): Promise<void> {
    const mine = ++this.#asked;
    if (this.data === undefined && !this.late) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => (this.late = this.data === undefined && !this.error), LATE_MS);
    }
    try {
      const data = await this.#fetch();
      if (mine !== this.#asked) return;
      this.data = data;
      this.error = undefined;
    } catch (error) {
      if (mine !== this.#asked) return;
      this.error = asFault(error);
    }
    clearTimeout(this.#timer);
    this.late = false;
  }

  dispose(): void {
    this.#asked = -1;
    clearTimeout(this.#timer);
  }
}

/** For use while a component is set up: fetches now and whenever the topics change, until the component goes. */
export function resource<T>(api: Api, topics: readonly Topic[], fetch: () => Promise<T>): Resource<T> {
  const made = new Resource(fetch);
  $effect(() => {
    void made.load();
    const off = api.on(topics, () => void made.load());
    return () => {
      off();
      made.dispose();
    };
  });
  return made;
}
