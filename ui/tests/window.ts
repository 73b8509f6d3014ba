/** Opens the whole window on a fake host, as the browser does. */
import { render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { Api } from '$lib/api/api.svelte';
import { FakeHost, type FakeMode } from '$lib/api/fake/host';
import App from '../src/shell/App.svelte';

export interface Opened {
  host: FakeHost;
  user: ReturnType<typeof userEvent.setup>;
  container: HTMLElement;
}

/** `place` is the address behind the `#/`. */
export async function open(place: string, mode: FakeMode = 'full', language = 'en'): Promise<Opened> {
  window.history.replaceState(null, '', place === '' ? '#' : `#/${place}`);
  const host = new FakeHost(mode);
  host.world.settings = host.world.settings.map((one) =>
    one.key === 'ui.language' ? { ...one, value: language } : one,
  );
  const { container } = render(App, { props: { api: new Api(host) } });
  await waitFor(() => screen.getByRole('heading', { level: 1 }));
  return { host, user: userEvent.setup(), container };
}

/** What was called, by method, without what only shows. */
export const called = (host: FakeHost, method: string): unknown[] =>
  host.calls.filter((call) => call.method === method).map((call) => call.params);
