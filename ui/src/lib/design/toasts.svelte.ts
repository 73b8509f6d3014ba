/** Short words about something that was done, maybe with a way back. Never for errors that need something. */
import { getContext, setContext } from 'svelte';

const STAY_MS = 6000;
const KEY = Symbol('toasts');

export interface Toast {
  text: string;
  undo?: { label: string; run: () => void };
}

export class Toasts {
  current = $state.raw<Toast | undefined>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  show(text: string, undo?: Toast['undo']): void {
    this.current = undo ? { text, undo } : { text };
    this.hold(false);
  }

  /** While the pointer or the focus is on it, it stays. */
  hold(held: boolean): void {
    clearTimeout(this.#timer);
    if (!held) this.#timer = setTimeout(() => (this.current = undefined), STAY_MS);
  }

  dismiss(): void {
    clearTimeout(this.#timer);
    this.current = undefined;
  }
}

export const provideToasts = (toasts: Toasts): Toasts => setContext(KEY, toasts);
export const useToasts = (): Toasts => getContext<Toasts>(KEY);
