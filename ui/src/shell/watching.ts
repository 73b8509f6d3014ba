/** The state of the whole, folded into a bell, a word and a few words more: the worst wins. */
import type { Status } from '$lib/api/types';
import type { MarkState } from '$lib/design/Mark.svelte';
import type { Words } from '$lib/words/words.svelte';

export interface Watching {
  mark: MarkState;
  word: string;
  detail: string;
}

export function watching(status: Status | undefined, words: Words): Watching {
  const { say } = words;
  if (!status) return { mark: 'watching', word: 'Ringonce', detail: '' };
  const at = (time: string) => words.clock(Date.parse(time));
  if (status.mailboxes.length === 0) return { mark: 'paused', word: say('watch.off'), detail: say('watch.none') };
  if (status.paused_until)
    return { mark: 'paused', word: say('watch.paused'), detail: say('watch.until', { time: at(status.paused_until) }) };
  if (status.offline_since)
    return {
      mark: 'offline',
      word: say('watch.offline'),
      detail: say('watch.since', { time: at(status.offline_since) }),
    };
  if (!status.running) return { mark: 'offline', word: say('watch.off'), detail: say('mailbox.stopped') };
  const refused = status.mailboxes.find((one) => one.state === 'sign_in');
  if (refused)
    return { mark: 'attention', word: say('watch.watching'), detail: say('watch.signin', { mailbox: refused.email }) };
  if (status.destinations.length === 0)
    return { mark: 'paused', word: say('watch.watching'), detail: say('watch.setup') };
  const stuck = status.dead + status.uncertain;
  if (stuck > 0) return { mark: 'attention', word: say('watch.watching'), detail: say('watch.need', { n: stuck }) };
  return {
    mark: 'watching',
    word: say('watch.watching'),
    detail: say('watch.mailboxes', { n: status.mailboxes.length }),
  };
}
