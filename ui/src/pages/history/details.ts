/** A mail's keys and details as text, for the clipboard. */
import type { Explanation } from '$lib/api/types';
import { senderOf, sourceName, subjectOf } from '$lib/mail/outcome';
import type { Words } from '$lib/words/words.svelte';

export interface NamedKey {
  name: string;
  value: string;
}
export function keysOf(mail: Explanation, words: Words): NamedKey[] {
  const { say } = words;
  const many = mail.notifications.length > 1;
  return [
    { name: say('panel.key.message'), value: mail.message_key },
    ...(mail.operation_key ? [{ name: say('panel.key.operation'), value: mail.operation_key }] : []),
    ...mail.notifications.map((one) => ({
      name: many ? one.destination : say('panel.key.dispatch'),
      value: one.dispatch_key,
    })),
    ...mail.identities.map((one) => {
      const key = `panel.key.${one.kind}`;
      return { name: words.has(key) ? say(key) : one.kind, value: one.value };
    }),
  ];
}

export function asText(mail: Explanation, words: Words): string {
  const lines = [
    `${words.say('panel.from')}: ${senderOf(mail, words)} ${mail.from ?? ''}`,
    `${words.say('panel.subject')}: ${subjectOf(mail, words)}`,
    ...mail.deliveries.map(
      (one) => `${one.first_seen_at} ${sourceName(one.source, words)} ${one.locator} ${one.verdict}: ${one.reason}`,
    ),
    `${mail.decision ?? ''}: ${mail.reason ?? ''}`,
    ...mail.notifications.map((one) => `${one.destination}: ${one.status}`),
    ...mail.attempts.map(
      (one) =>
        `${one.started_at} ${one.dispatch_key.slice(0, 8)} #${one.attempt} ${one.outcome ?? ''} ${one.detail ?? ''}`,
    ),
    ...keysOf(mail, words).map(({ name, value }) => `${name}: ${value}`),
  ];
  return lines.map((line) => line.trimEnd()).join('\n');
}
