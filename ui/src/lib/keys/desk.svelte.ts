/** Who acts on Esc (the last that opened something) and on "filter" (the page that has one). */
import { getContext, setContext } from 'svelte';

const KEY = Symbol('desk');

export class Desk {
  #backs: (() => void)[] = [];
  #filters: (() => void)[] = [];

  /** Esc is a stack: what was opened last is closed first. */
  onBack(act: () => void): () => void {
    return Desk.#add(this.#backs, act);
  }
  onFilter(act: () => void): () => void {
    return Desk.#add(this.#filters, act);
  }
  back(): boolean {
    return Desk.#run(this.#backs);
  }
  filter(): boolean {
    return Desk.#run(this.#filters);
  }

  static #add(list: (() => void)[], act: () => void): () => void {
    list.push(act);
    return () => {
      const at = list.lastIndexOf(act);
      if (at >= 0) list.splice(at, 1);
    };
  }
  static #run(list: (() => void)[]): boolean {
    const act = list.at(-1);
    act?.();
    return act !== undefined;
  }
}

export const provideDesk = (desk: Desk): Desk => setContext(KEY, desk);
export const useDesk = (): Desk => getContext<Desk>(KEY);
