/**
 * The link of a mailbox to one of its mails. What the engine refuses is said before anything is sent; the last word is
 * the engine's.
 */
export const MESSAGE_ID = '{message_id}';
export const EMAIL = '{email}';
export const LINK_EXAMPLE = `https://mail.example.com/#search/rfc822msgid:${MESSAGE_ID}`;
const SCHEMES = ['https:', 'http:', 'mid:', 'message:'];

export function isLinkTemplate(text: string): boolean {
  const filled = (value: string) => new URL(text.replaceAll(MESSAGE_ID, value).replaceAll(EMAIL, value));
  if (!text.includes(MESSAGE_ID) || /\s/.test(text)) return false;
  try {
    const [one, other] = [filled('a%40b'), filled('c%40d')];
    // What comes from a mail must not choose whom to call.
    return (
      SCHEMES.includes(one.protocol) && one.host === other.host && one.protocol === other.protocol && !one.username
    );
  } catch {
    return false;
  }
}
