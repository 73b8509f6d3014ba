/** A mailbox being added: address, server, password, folders. Nothing is stored before the last step. */
import type { Api } from '$lib/api/api.svelte';
import type { Fault } from '$lib/api/fault';
import type { FolderView, Presets, ProbeView, ProviderView } from '$lib/api/types';
import { isLinkTemplate } from './link-template';
import { Act } from './act.svelte';
import { isEmail, NO_SERVER, paramsOf, serverFrom, type Server } from './server';

export type AddStep = 'address' | 'server' | 'folders';
export const ADD_STEPS: AddStep[] = ['address', 'server', 'folders'];

export class MailboxDraft {
  step = $state<AddStep>('address');
  email = $state('');
  emailBad = $state(false);
  server = $state<Server>(NO_SERVER);
  presets = $state.raw<Presets | undefined>();
  probe = $state.raw<ProbeView | undefined>();
  looking = $state(false);
  /** The owner names the server. */
  byHand = $state(false);
  password = $state('');
  passwordMissing = $state(false);
  folders = $state.raw<FolderView[]>([]);
  chosen = $state.raw<ReadonlySet<string>>(new Set());
  /** What a press on a notification opens; empty: its history. */
  link = $state('');
  linkBad = $state(false);
  readonly act = new Act();
  readonly #api: Api;
  #asked = 0;

  constructor(api: Api, email = '') {
    this.#api = api;
    this.email = email;
  }

  get provider(): ProviderView | undefined {
    return this.presets?.provider ?? undefined;
  }
  /** The provider takes no passwords at all. */
  get isOauthOnly(): boolean {
    return this.provider?.sign_in === 'oauth' && !this.byHand;
  }
  get refused(): Fault | undefined {
    return this.act.fault?.code === 'sign_in' ? this.act.fault : undefined;
  }
  /** SHA-256 of the server's certificate, which nobody vouches for and the owner has not trusted yet. */
  get stranger(): string | undefined {
    const pin = this.probe?.pin;
    return pin && pin !== this.server.pin ? pin : undefined;
  }
  /** Trusts the certificate that was shown, and no other. */
  trust(): void {
    this.server = { ...this.server, ca_file: '', pin: this.stranger ?? this.server.pin };
  }

  /** From the address to its server: that of its provider, else the usual places, else the owner is asked. */
  async find(): Promise<void> {
    this.emailBad = !isEmail(this.email);
    if (this.emailBad) return;
    this.email = this.email.trim();
    const { email } = this;
    const mine = ++this.#asked;
    this.presets = undefined;
    this.probe = undefined;
    this.byHand = false;
    this.act.fault = undefined;
    this.step = 'server';
    this.looking = true;
    try {
      const presets = await this.#api.call('mailbox.presets', { email });
      if (mine !== this.#asked) return;
      this.presets = presets;
      if (presets.servers[0]) this.server = serverFrom(presets.servers[0]);
      if (this.isOauthOnly) return;
      const probe = await this.#api.call('mailbox.probe', { email });
      if (mine !== this.#asked) return;
      this.probe = probe;
      this.server = serverFrom(probe.server);
    } catch {
      if (mine === this.#asked) this.byHand = true;
    } finally {
      if (mine === this.#asked) this.looking = false;
    }
  }

  /** Logs in and reads the folders; the inbox is chosen. */
  async signIn(): Promise<void> {
    this.passwordMissing = this.password === '';
    if (this.passwordMissing) return;
    const { email, password } = this;
    const server = paramsOf(this.server);
    const done = await this.act.run('signIn', async () => {
      // A server named by hand is looked at before the password goes there.
      if (this.byHand) this.probe = await this.#api.call('mailbox.probe', { email, server });
      if (!this.stranger) this.folders = await this.#api.call('mailbox.folders', { email, password, server });
    });
    if (!done || this.stranger) return;
    this.chosen = new Set(this.folders.filter((one) => one.special === 'inbox').map((one) => one.name));
    this.step = 'folders';
  }

  choose(name: string, on: boolean): void {
    const next = new Set(this.chosen);
    if (on) next.add(name);
    else next.delete(name);
    this.chosen = next;
  }

  /** Stores it; gives its id where that went well. */
  async start(): Promise<string | undefined> {
    let id: string | undefined;
    const link_template = this.link.trim();
    this.linkBad = link_template !== '' && !isLinkTemplate(link_template);
    if (this.linkBad) return undefined;
    await this.act.run('start', async () => {
      const { email, password } = this;
      const server = paramsOf(this.server);
      const added = await this.#api.call('mailbox.add', {
        email,
        password,
        server,
        folders: [...this.chosen],
        ...(link_template ? { link_template } : {}),
        test: true,
      });
      id = added.id;
    });
    return id;
  }

  back(): boolean {
    this.act.fault = undefined;
    const before = ADD_STEPS[ADD_STEPS.indexOf(this.step) - 1];
    if (before) this.step = before;
    return before !== undefined;
  }
}
