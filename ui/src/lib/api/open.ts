/** Finds what stands behind the window. The fake is loaded only where there is no program: `?fake=empty&lang=pl`. */
import type { Host } from './host';
import { isTauri, tauriHost } from './tauri';

export async function openHost(page: Window): Promise<Host> {
  if (isTauri()) return tauriHost;
  const { FakeHost, fakeMode } = await import('./fake/host');
  const asked = new URLSearchParams(page.location.search);
  const host = new FakeHost(fakeMode(asked.get('fake')), Number(asked.get('latency') ?? 0));
  for (const [word, key] of [
    ['theme', 'ui.theme'],
    ['lang', 'ui.language'],
  ] as const) {
    const value = asked.get(word);
    if (value) host.world.settings = host.world.settings.map((one) => (one.key === key ? { ...one, value } : one));
  }
  return host;
}
