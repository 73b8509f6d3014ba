import { describe, expect, it } from 'vitest';
import { mail } from '$lib/api/fake/mails';
import { ntfyAddresses } from '$lib/mail/ntfy';
import { isLinkTemplate } from '$lib/mail/link-template';
import { outcome, placeName } from '$lib/mail/outcome';
import { readable } from '$lib/mail/wire-name';
import { Words } from '$lib/words/words.svelte';
import { place } from '$lib/mail/folders';
import { isEmail } from '$lib/mail/server';
import { readCondition, writeCondition } from '$lib/mail/rule';
import { placeOf, link } from '$lib/mail/links';

describe('conditions of rules', () => {
  const check = (text: string) => {
    const read = readCondition(text);
    expect(read && writeCondition(read), text).toBe(text);
  };
  it('are read and written alike', () => {
    check('from contains "bank"');
    check('subject not starts "[nightly]"');
    check('list-id matches "a.*b"');
    check('subject is "say \\"hi\\" \\\\ bye"');
  });
  it('of a newer engine are left alone', () => {
    expect(readCondition('size over "1"')).toBeUndefined();
    expect(readCondition('from contains "open')).toBeUndefined();
  });
});

describe('what became of a mail', () => {
  const states = [0, 2, 5, 7, 9].map((number) => outcome(mail(number)));
  it('is the worst of its notifications', () => {
    expect(states).toEqual(['told', 'sending', 'silent', 'unsure', 'dead']);
  });
});

describe('mailboxes', () => {
  it('have folders under those that can be chosen', () => {
    const labels = new Set(['INBOX', 'INBOX/Work', 'INBOX/Work/2026', '[Gmail]/Sent']);
    expect(place('INBOX', labels)).toEqual({ depth: 0, name: 'INBOX' });
    expect(place('INBOX/Work/2026', labels)).toEqual({ depth: 2, name: '2026' });
    expect(place('[Gmail]/Sent', labels)).toEqual({ depth: 0, name: '[Gmail]/Sent' });
  });
  it('addresses must be whole', () => {
    for (const good of ['a@b.example', 'a+b@c.d.example']) expect(isEmail(good), good).toBe(true);
    for (const bad of ['a', 'a@b', '@b.example', 'a b@c.example', 'a@b.']) expect(isEmail(bad), bad).toBe(false);
  });
});

describe('folders and links', () => {
  it('folders are named as people read them', () => {
    const check = (wire: string, expected: string) => expect(readable(wire), wire).toBe(expected);
    check('&BB8EPgRHBEIEMA-', 'Почта');
    check('Wys&AUI-ane', 'Wysłane');
    check('A &- B', 'A & B');
    check('&2D3eAA-', '😀');
    check('&!-', '&!-');
  });
  it('the place of a report is its folder', () => {
    const words = new Words('en');
    expect(placeName('INBOX;UIDVALIDITY=7;UID=12', words)).toBe('Inbox');
    expect(placeName('a;UID=3;UIDVALIDITY=7;UID=12', words)).toBe('a;UID=3');
    expect(placeName('hook-1', words)).toBe('hook-1');
  });
  it('links are taken as the engine takes them', () => {
    for (const good of [
      'https://mail.example/u/{email}/#search/rfc822msgid:{message_id}',
      'mid:{message_id}',
      'message:%3C{message_id}%3E',
    ])
      expect(isLinkTemplate(good), good).toBe(true);
    for (const bad of [
      '',
      'mail.example/{message_id}',
      'https://mail.example/inbox',
      "javascript:alert('{message_id}')",
      'file:///{message_id}',
      'https://{message_id}/',
      'https://{message_id}.example/',
      'https://x:{message_id}@mail.example/',
      '{message_id}:x',
      'https:///{message_id}x y',
    ])
      expect(isLinkTemplate(bad), bad).toBe(false);
  });
});

describe('addresses', () => {
  it('of an ntfy topic open the app', () => {
    expect(ntfyAddresses('https://ntfy.example.org/', 'ring')).toEqual({
      app: 'ntfy://ntfy.example.org/ring',
      web: 'https://ntfy.example.org/ring',
    });
    expect(ntfyAddresses('http://10.0.0.2:8080', 'ring')?.app).toBe('ntfy://10.0.0.2:8080/ring?secure=false');
    expect(ntfyAddresses('https://example.org/ntfy/', 'ring')).toEqual({ web: 'https://example.org/ntfy/ring' });
    expect(ntfyAddresses('nonsense', 'ring')).toBeUndefined();
  });
  it('in the window are read as they are written', () => {
    expect(placeOf(link('history', 'a/b'))).toEqual({ page: 'history', rest: ['a/b'] });
    expect(placeOf('#/nowhere')).toBeUndefined();
  });
});
