/** Rules as sentences: reads and writes the conditions of the engine, and names where a rule rings. */
import type { DestinationView, DraftRule, MailboxView, RouteView } from '$lib/api/types';
import type { Values, Words } from '$lib/words/words.svelte';

export const FIELDS = ['from', 'to', 'subject', 'folder', 'list-id'] as const;
export const TESTS = ['contains', 'is', 'starts', 'matches'] as const;
export interface Condition {
  field: (typeof FIELDS)[number];
  not: boolean;
  test: (typeof TESTS)[number];
  value: string;
}

const FORM = /^(\S+) (not )?(contains|is|starts|matches) "((?:[^"\\]|\\.)*)"$/i;

/** Undefined: it is of a newer engine. */
export function readCondition(text: string): Condition | undefined {
  const found = FORM.exec(text);
  const field = FIELDS.find((one) => one === found?.[1]?.toLowerCase());
  const test = TESTS.find((one) => one === found?.[3]?.toLowerCase());
  if (!found || !field || !test) return undefined;
  return { field, not: Boolean(found[2]), test, value: (found[4] ?? '').replace(/\\(.)/g, '$1') };
}
export function writeCondition({ field, not, test, value }: Condition): string {
  const quoted = value.replace(/\\/g, '\\\\').replace(/"/g, '\\"');
  return `${field} ${not ? 'not ' : ''}${test} "${quoted}"`;
}

export function sayCondition(text: string, words: Words): string {
  const read = readCondition(text);
  if (!read) return text;
  const test = words.say(read.not ? `rule.test.not.${read.test}` : `rule.test.${read.test}`);
  return words.say('rule.condition', { field: words.say(`rule.field.${read.field}`), test, value: read.value });
}

export interface Rulebook {
  mailboxes: readonly MailboxView[];
  destinations: readonly DestinationView[];
  routes: readonly RouteView[];
}

/** When it applies, as the beginning of a sentence. */
export function sayWhen(rule: DraftRule, book: Rulebook, words: Words): string {
  const mailbox = book.mailboxes.find((one) => one.id === rule.mailbox);
  const parts = [
    ...(rule.mailbox ? [words.say('rules.say.mailbox', { mailbox: mailbox?.email ?? rule.mailbox })] : []),
    ...rule.conditions.map((condition) => sayCondition(condition, words)),
  ];
  if (parts.length === 0) return words.say('rules.say.any');
  // After the first, a condition goes on in the same sentence.
  return parts
    .map((part, index) => (index === 0 ? part : part.charAt(0).toLocaleLowerCase() + part.slice(1)))
    .reduce((first, second) => words.say('rules.say.and', { first, second }));
}

const nameOf = (id: string, book: Rulebook): string => book.destinations.find((one) => one.id === id)?.name ?? id;

export function sayRoute(route: RouteView, book: Rulebook, words: Words): string {
  const destination = nameOf(route.to, book);
  if (route.fallbacks.length === 0) return destination;
  const others = words.list(route.fallbacks.map((id) => nameOf(id, book)));
  return words.say('rules.fallback', { destination, others });
}

/** The whole sentence: its key and what stands in it. */
export function sentence(
  rule: DraftRule,
  book: Rulebook,
  words: Words,
): { key: 'rules.say.notify' | 'rules.say.silent'; values: Values } {
  const when = sayWhen(rule, book, words);
  if (rule.silent !== null) return { key: 'rules.say.silent', values: { when } };
  const routes = rule.routes.map((id) => {
    const route = book.routes.find((one) => one.id === id);
    return route ? sayRoute(route, book, words) : id;
  });
  return { key: 'rules.say.notify', values: { when, destinations: words.list(routes) } };
}

/** Where everything else rings. */
export const everywhere = (book: Rulebook): string[] =>
  book.destinations.filter((one) => !one.fallback_only).map((one) => one.name);
