/** What the whole window shares: the status, the settings of the window, where one is. */
import type { Api } from '$lib/api/api.svelte';
import { Resource } from '$lib/api/resource.svelte';
import type { SettingView } from '$lib/api/types';
import type { Status } from '$lib/api/types';
import { placeOf, type Place } from '$lib/mail/links';
import { systemLanguage, type Language, type Words } from '$lib/words/words.svelte';

export class Shell {
  place = $state.raw<Place>({ page: 'status', rest: [] });
  readonly status: Resource<Status>;
  readonly settings: Resource<SettingView[]>;
  readonly #api: Api;
  readonly #words: Words;

  constructor(api: Api, words: Words) {
    this.#api = api;
    this.#words = words;
    this.status = new Resource(() => api.call('status.get'));
    this.settings = new Resource(() => api.call('settings.list'));
    this.place = placeOf(window.location.hash) ?? this.place;
  }

  start(): () => void {
    const moved = () => (this.place = placeOf(window.location.hash) ?? { page: 'status', rest: [] });
    window.addEventListener('hashchange', moved);
    const offs = [
      this.#api.on(['status', 'attention', 'mailboxes', 'destinations'], () => void this.status.load()),
      this.#api.on(['settings'], () => void this.settings.load()),
      () => window.removeEventListener('hashchange', moved),
    ];
    void this.settings.load();
    void this.#begin();
    return () => offs.forEach((off) => off());
  }

  /** Without any mailbox the set-up comes first, unless an address says otherwise. */
  async #begin(): Promise<void> {
    const wanted = placeOf(window.location.hash);
    await this.status.load();
    if (!wanted && this.status.data?.mailboxes.length === 0) window.location.hash = '#/setup';
  }

  /** Puts theme and language in force. */
  apply(): void {
    const value = (key: string) => this.settings.data?.find((one) => one.key === key)?.value ?? 'system';
    const theme = value('ui.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
    else delete document.documentElement.dataset['theme'];
    const language = value('ui.language');
    this.#words.language = language === 'system' ? systemLanguage(navigator.languages) : (language as Language);
    document.documentElement.lang = this.#words.language;
  }
}
