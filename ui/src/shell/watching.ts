/** The state of the whole, folded into a bell, a word and a few words more: the worst wins. */
import type { Status } from '$lib/api/types';
import type { MarkState } from '$lib/design/Mark.svelte';
import type { Words } from '$lib/words/words.svelte';

export interface Watching {
  mark: MarkState;
  word: string;
  detail: string;
}

export function watching(status: Status | 'down' | undefined, words: Words): Watching {
  const { say } = words;
  if (status === 'down') return { mark: 'offline', word: say('watch.off'), detail: say('mailbox.stopped') };
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
  const some = status.mailboxes.some((one) => one.state === 'watching' || one.state === 'starting');
  const word = say(some ? 'watch.watching' : 'watch.off');
  if (status.keychain_error) return { mark: 'attention', word, detail: say('short.secret_unavailable') };
  if (status.mailboxes.some((one) => one.state === 'sign_in'))
    return { mark: 'attention', word, detail: say('mailbox.sign_in') };
  if (!some) return { mark: 'attention', word, detail: say('watch.mailboxes', { n: status.mailboxes.length }) };
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
