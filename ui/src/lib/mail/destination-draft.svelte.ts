/** A destination being added or changed: its fields, and whether a test passed for just these values. */
import type { Api } from '$lib/api/api.svelte';
import type { DestinationView, KindView, Policy, Privacy, TestResult } from '$lib/api/types';
import { Act } from './act.svelte';

export type FieldFault = 'required' | 'url' | 'number' | 'topic';
type Field = KindView['fields'][number];

/** Hard to guess: whoever knows a topic can read along. */
export function newTopic(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `ringonce-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

export class DestinationDraft {
  readonly kind: KindView;
  /** What is being changed; absent: a new one. */
  readonly stored: DestinationView | undefined;
  name = $state('');
  values = $state<Record<string, string>>({});
  privacy = $state<Privacy>('full');
  policy = $state<Policy>('never-twice');
  fallbackOnly = $state(false);
  faults = $state<Record<string, FieldFault>>({});
  result = $state.raw<TestResult | undefined>();
  /** The owner's answer to "Did it ring?". */
  rang = $state<boolean | undefined>();
  #tested = $state('');
  readonly act = new Act();
  readonly #api: Api;

  constructor(api: Api, kind: KindView, name: string, stored?: DestinationView) {
    this.#api = api;
    this.kind = kind;
    this.stored = stored;
    this.name = stored?.name ?? name;
    this.privacy = stored?.privacy ?? 'full';
    this.policy = stored?.policy ?? 'never-twice';
    this.fallbackOnly = stored?.fallback_only ?? false;
    for (const field of kind.fields) this.values[field.key] = stored?.fields[field.key] ?? field.default ?? '';
    if (kind.kind === 'ntfy' && !stored) this.values['topic'] = newTopic();
  }

  /** What stands first: what makes the target, what is needed, and secrets. */
  get main(): Field[] {
    return this.kind.fields.filter((field) => field.target || field.required || field.secret);
  }
  get more(): Field[] {
    return this.kind.fields.filter((field) => !this.main.includes(field));
  }
  /** A test passed, and nothing was changed since. */
  get isTested(): boolean {
    return this.result !== undefined && this.#tested === this.#snapshot();
  }

  set(key: string, value: string): void {
    this.values = { ...this.values, [key]: value };
    this.faults = Object.fromEntries(Object.entries(this.faults).filter(([other]) => other !== key));
  }

  /** Whether every field fits; marks those that do not. */
  check(): boolean {
    const found = this.kind.fields.flatMap((field) => {
      const fault = this.#faultOf(field, this.values[field.key] ?? '');
      return fault ? [[field.key, fault] as const] : [];
    });
    this.faults = Object.fromEntries(this.name.trim() === '' ? [['name', 'required'] as const, ...found] : found);
    return Object.keys(this.faults).length === 0;
  }

  /** Sends one message with these values; nothing is stored. */
  async test(): Promise<boolean> {
    if (!this.check()) return false;
    this.rang = undefined;
    this.result = undefined;
    const now = this.#snapshot();
    return this.act.run('test', async () => {
      const { fields, secrets } = this.#split();
      const which = this.stored ? { id: this.stored.id } : { kind: this.kind.kind };
      this.result = await this.#api.call('destination.try', { ...which, name: this.name, fields, secrets });
      this.#tested = now;
    });
  }

  /** Stores it. The test was made here, or the owner waived it. */
  async save(): Promise<boolean> {
    if (!this.check()) return false;
    const { fields, secrets } = this.#split();
    const { name, privacy, policy } = this;
    const common = {
      name: name.trim(),
      fields,
      secrets,
      privacy,
      policy,
      fallback_only: this.fallbackOnly,
      test: false,
    };
    return this.act.run('save', async () => {
      if (this.stored) await this.#api.call('destination.set', { id: this.stored.id, ...common });
      else await this.#api.call('destination.add', { kind: this.kind.kind, ...common });
    });
  }

  #faultOf(field: Field, value: string): FieldFault | undefined {
    const keepsSecret = field.secret && this.stored;
    if (value.trim() === '') return field.required && !keepsSecret ? 'required' : undefined;
    if (field.form?.kind === 'url' && !/^https?:\/\/[^\s/]+/.test(value)) return 'url';
    if (field.form?.kind === 'number') {
      const number = Number(value);
      if (!Number.isInteger(number) || number < field.form.min || number > field.form.max) return 'number';
    }
    return field.key === 'topic' && !/^[-_A-Za-z0-9]{1,64}$/.test(value) ? 'topic' : undefined;
  }

  #split(): { fields: Record<string, string>; secrets: Record<string, string> } {
    const pick = (secret: boolean) =>
      Object.fromEntries(
        this.kind.fields
          .filter((field) => field.secret === secret)
          .map((field) => [field.key, (this.values[field.key] ?? '').trim()] as const)
          // A secret that was left alone stays as it is.
          .filter(([, value]) => value !== '' || (!secret && this.stored !== undefined)),
      );
    return { fields: pick(false), secrets: pick(true) };
  }

  #snapshot(): string {
    return JSON.stringify(this.values);
  }
}
