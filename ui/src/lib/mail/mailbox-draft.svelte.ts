/** A mailbox being added: address, server, password, folders. Nothing is stored before the last step. */
import type { Api } from '$lib/api/api.svelte';
import type { Fault } from '$lib/api/fault';
import type { FolderView, Probe } from '$lib/api/wanted';
import { Act } from './act.svelte';
import { isEmail, providerOf, serverOf, type Provider, type Server } from './providers';

export type AddStep = 'address' | 'server' | 'folders';
export const ADD_STEPS: AddStep[] = ['address', 'server', 'folders'];

export class MailboxDraft {
  step = $state<AddStep>('address');
  email = $state('');
  emailBad = $state(false);
  server = $state<Server>({ host: '', port: 993, tls: 'implicit', username: '' });
  probe = $state.raw<Probe | undefined>();
  looking = $state(false);
  /** The owner names the server. */
  byHand = $state(false);
  password = $state('');
  passwordMissing = $state(false);
  folders = $state.raw<FolderView[]>([]);
  chosen = $state.raw<ReadonlySet<string>>(new Set());
  readonly act = new Act();
  readonly #api: Api;
  #asked = 0;

  constructor(api: Api, email = '') {
    this.#api = api;
    this.email = email;
  }

  get provider(): Provider | undefined {
    return providerOf(this.email);
  }
  /** The provider takes no passwords at all. */
  get isOauthOnly(): boolean {
    return this.provider?.signIn === 'oauth' && !this.byHand;
  }
  get refused(): Fault | undefined {
    return this.act.fault?.code === 'sign_in' ? this.act.fault : undefined;
  }

  /** From the address to its server: a known one, else the usual place, else the owner is asked. */
  async find(): Promise<void> {
    this.emailBad = !isEmail(this.email);
    if (this.emailBad) return;
    this.email = this.email.trim();
    this.server = serverOf(this.email);
    this.probe = undefined;
    this.byHand = false;
    this.act.fault = undefined;
    this.step = 'server';
    if (this.isOauthOnly) return;
    const mine = ++this.#asked;
    this.looking = true;
    try {
      const probe = await this.#api.call('mailbox.probe', { email: this.email, server: { ...this.server } });
      if (mine === this.#asked) this.probe = probe;
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
    const done = await this.act.run('signIn', async () => {
      const { email, password } = this;
      this.folders = await this.#api.call('mailbox.folders', { email, password, server: { ...this.server } });
    });
    if (!done) return;
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
    await this.act.run('start', async () => {
      const { email, password, server } = this;
      const unsafe = server.tls === 'none' ? { allow_plaintext: true } : {};
      const added = await this.#api.call('mailbox.add', {
        email,
        password,
        server: { ...server, ...unsafe },
        folders: [...this.chosen],
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
