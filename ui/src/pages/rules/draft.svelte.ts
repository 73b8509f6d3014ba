/** A rule being written: what must hold, and what then happens. */
import type { Api } from '$lib/api/api.svelte';
import type { DraftRule, RouteView, RuleView } from '$lib/api/types';
import { readCondition, writeCondition, type Condition } from '$lib/mail/rule';
import type { Book } from './book';

/** One destination that rings, and where instead if it fails. */
export interface Way {
  to: string;
  fallback: string;
}

export class RuleDraft {
  readonly stored: RuleView | undefined;
  mailbox = $state('');
  conditions = $state<Condition[]>([]);
  silent = $state(false);
  ways = $state<Way[]>([]);
  /** What was tried to be saved without everything in it. */
  isShort = $state(false);
  readonly #book: Book;
  readonly #reason: string;
  /** Conditions of a newer engine, kept as they are. */
  readonly #foreign: string[];

  constructor(book: Book, stored: RuleView | undefined, reason: string) {
    this.#book = book;
    this.stored = stored;
    this.#reason = stored?.silent ?? reason;
    this.mailbox = stored?.mailbox ?? '';
    const texts = stored?.conditions ?? [];
    this.#foreign = texts.filter((text) => readCondition(text) === undefined);
    this.conditions = texts.flatMap((text) => readCondition(text) ?? []);
    if (!stored) this.conditions = [{ field: 'from', not: false, test: 'contains', value: '' }];
    this.silent = stored ? stored.silent !== null : false;
    this.ways = (stored?.routes ?? []).flatMap((id) => {
      const route = book.routes.find((one) => one.id === id);
      return route ? [{ to: route.to, fallback: route.fallbacks[0] ?? '' }] : [];
    });
  }

  get lacksValue(): boolean {
    return this.conditions.some((one) => one.value.trim() === '');
  }
  get lacksWay(): boolean {
    return !this.silent && this.ways.length === 0;
  }

  ring(to: string, on: boolean): void {
    this.ways = on ? [...this.ways, { to, fallback: '' }] : this.ways.filter((way) => way.to !== to);
  }

  #texts(): string[] {
    return [...this.conditions.map((one) => writeCondition({ ...one, value: one.value.trim() })), ...this.#foreign];
  }

  /** For trying: routes that are not there yet stand for themselves. */
  sketch(): DraftRule {
    return {
      id: this.stored?.id ?? 'new',
      mailbox: this.mailbox || null,
      conditions: this.#texts(),
      routes: this.silent ? [] : this.ways.map((way) => this.#route(way)?.id ?? way.to),
      silent: this.silent ? this.#reason : null,
    };
  }

  /** The whole list as it would be with this rule in it. */
  list(): DraftRule[] {
    const others = this.#book.rules.filter((rule) => !rule.off || rule.id === this.stored?.id);
    return this.stored
      ? others.map((rule) => (rule.id === this.stored?.id ? this.sketch() : rule))
      : [...others, this.sketch()];
  }

  /** Stores it, and first the routes it needs. */
  async save(api: Api): Promise<void> {
    const routes: string[] = [];
    for (const way of this.silent ? [] : this.ways)
      routes.push(this.#route(way)?.id ?? (await this.#addRoute(api, way)));
    const sketch = { ...this.sketch(), routes };
    if (this.stored) await api.call('rule.set', sketch);
    else {
      const { mailbox, conditions, silent } = sketch;
      await api.call('rule.add', {
        conditions,
        ...(mailbox ? { mailbox } : {}),
        ...(silent === null ? { routes } : { silent }),
      });
    }
  }

  #route(way: Way): RouteView | undefined {
    return this.#book.routes.find(
      (one) => one.to === way.to && (one.fallbacks[0] ?? '') === way.fallback && one.fallbacks.length < 2,
    );
  }

  async #addRoute(api: Api, way: Way): Promise<string> {
    const name = (id: string) => this.#book.destinations.find((one) => one.id === id)?.name ?? id;
    const wanted = way.fallback ? `${name(way.to)} > ${name(way.fallback)}` : name(way.to);
    const taken = this.#book.routes.some((one) => one.name === wanted);
    const { id } = await api.call('route.add', {
      name: taken ? `${wanted} (${this.#book.routes.length + 1})` : wanted,
      to: way.to,
      ...(way.fallback ? { fallbacks: [way.fallback] } : {}),
    });
    return id;
  }
}
