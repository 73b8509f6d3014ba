/** What jsdom does not have, as little of it as our components need. */
import { configure } from '@testing-library/svelte';
import { afterEach, vi } from 'vitest';

// A busy machine is no failure; and a failure is told in a line, not in a whole window.
configure({ asyncUtilTimeout: 5000, getElementError: (message) => new Error(message ?? 'not found') });

// Without layout a list has no height: it gets that of a window, so that rows are drawn.
for (const [name, size] of Object.entries({
  offsetHeight: 640,
  offsetWidth: 600,
  clientHeight: 640,
  clientWidth: 600,
})) {
  Object.defineProperty(HTMLElement.prototype, name, { configurable: true, get: () => size });
}

globalThis.ResizeObserver ??= class {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
};
Element.prototype.scrollTo ??= () => {};
Element.prototype.scrollIntoView ??= () => {};

HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
  this.setAttribute('open', '');
};
HTMLDialogElement.prototype.close ??= function (this: HTMLDialogElement) {
  this.removeAttribute('open');
};

window.matchMedia ??= ((query: string) => ({
  matches: true,
  media: query,
  addEventListener: () => {},
  removeEventListener: () => {},
})) as unknown as typeof window.matchMedia;

afterEach(() => {
  vi.useRealTimers();
  window.history.replaceState(null, '', '#');
  delete document.documentElement.dataset['theme'];
});
