/** Everything the sentences of rules are made of. */
import type { Api } from '$lib/api/api.svelte';
import type { RuleView } from '$lib/api/types';
import type { Rulebook } from '$lib/mail/rule';

export type Book = Rulebook & { rules: RuleView[] };

export async function loadBook(api: Api): Promise<Book> {
  const [rules, routes, destinations, mailboxes] = await Promise.all([
    api.call('rule.list'),
    api.call('route.list'),
    api.call('destination.list'),
    api.call('mailbox.list'),
  ]);
  return { rules, routes, destinations, mailboxes };
}
