import { parse, TYPE, type MessageFormatElement } from '@formatjs/icu-messageformat-parser';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { en } from '$lib/words/en';
import { pl } from '$lib/words/pl';
import { ru } from '$lib/words/ru';
import { systemLanguage, Words, type Key } from '$lib/words/words.svelte';

const languages = { en, ru, pl } as Record<string, Record<string, string>>;

/** Every argument and tag of a message, and the plurals with their categories. */
function inspect(elements: MessageFormatElement[], found = { names: new Set<string>(), plurals: [] as string[][] }) {
  for (const element of elements) {
    if (element.type === TYPE.argument) found.names.add(element.value);
    if (element.type === TYPE.tag) {
      found.names.add(`<${element.value}>`);
      inspect(element.children, found);
    }
    if (element.type === TYPE.plural || element.type === TYPE.select) {
      found.names.add(element.value);
      if (element.type === TYPE.plural)
        found.plurals.push(Object.keys(element.options).filter((one) => !one.startsWith('=')));
      for (const option of Object.values(element.options)) inspect(option.value, found);
    }
  }
  return found;
}

describe('words', () => {
  for (const [language, messages] of Object.entries(languages)) {
    it(`${language} has the keys of English, and nothing else`, () => {
      expect(Object.keys(messages)).toEqual(Object.keys(en));
    });

    it(`${language} has the placeholders and marks of English in every sentence`, () => {
      for (const [key, text] of Object.entries(messages)) {
        const wanted = [...inspect(parse(en[key as Key])).names].sort();
        expect([...inspect(parse(text)).names].sort(), `${language} ${key}`).toEqual(wanted);
      }
    });

    it(`${language} says every plural in all its categories`, () => {
      const wanted = [...new Intl.PluralRules(language).resolvedOptions().pluralCategories].sort();
      for (const [key, text] of Object.entries(messages)) {
        for (const categories of inspect(parse(text)).plurals)
          expect([...categories].sort(), `${language} ${key}`).toEqual(wanted);
      }
    });

    it(`${language} leaves nothing empty, and its own alphabet is used`, () => {
      for (const [key, text] of Object.entries(messages)) expect(text.trim(), `${language} ${key}`).not.toBe('');
      const same = Object.entries(messages).filter(([key, text]) => text === en[key as Key]);
      if (language !== 'en')
        expect(same.length, `untranslated: ${same.map(([key]) => key).join(' ')}`).toBeLessThan(45);
    });
  }

  it('uses every key somewhere', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
      (name) => /\.(svelte|ts)$/.test(name) && !/words\/(en|ru|pl)\.ts$/.test(name),
    );
    const code = files.map((name) => readFileSync(join('src', name), 'utf8')).join('\n');
    // Keys made of a word of the engine: their beginning stands in the code before `${`.
    const beginnings = [...code.matchAll(/[`"]([a-z_]+(?:\.[a-z_]+)*\.)(?:\$\{|\{)/g)].map((found) => found[1] ?? '');
    const unused = Object.keys(en).filter(
      (key) =>
        !code.includes(`'${key}'`) && !code.includes(`"${key}"`) && !beginnings.some((one) => key.startsWith(one)),
    );
    expect(unused, 'words that nobody says').toEqual([]);
  });
});

describe('times and numbers', () => {
  const now = Date.parse('2026-05-14T14:31:40Z');
  const words = new Words('en');
  const check = (said: string, expected: string) => expect(said).toBe(expected);

  it('are relative within the hour, then the clock, then the day', () => {
    check(words.when(now - 2_000, now), 'just now');
    check(words.when(now - 12_000, now), '12 sec ago');
    check(words.when(now - 4 * 60_000, now), '4 min ago');
    check(words.when(now - 3 * 3_600_000, now), '11:31');
    check(words.when(now - 3 * 86_400_000, now), 'Monday');
    check(words.when(now - 30 * 86_400_000, now), '14 Apr');
  });

  it('durations have their unit', () => {
    check(words.duration(12), '12 ms');
    check(words.duration(310), '0.3 sec');
    check(words.duration(30_000), '30 sec');
    check(words.duration(217_000), '3 min 37 sec');
  });

  it('counts are said with the plural of the language', () => {
    const ru = new Words('ru');
    check(ru.say('watch.mailboxes', { n: 1 }), '1 ящик');
    check(ru.say('watch.mailboxes', { n: 3 }), '3 ящика');
    check(ru.say('watch.mailboxes', { n: 5 }), '5 ящиков');
    const pl = new Words('pl');
    check(pl.say('watch.mailboxes', { n: 2 }), '2 skrzynki');
    check(pl.say('watch.mailboxes', { n: 5 }), '5 skrzynek');
  });

  it('the language of the system is taken where we speak it', () => {
    expect(systemLanguage(['pl-PL', 'en'])).toBe('pl');
    expect(systemLanguage(['fr-FR', 'ru'])).toBe('ru');
    expect(systemLanguage(['fr'])).toBe('en');
  });

  it('text in a value stays text, whatever stands in it', () => {
    const pieces = words.pieces('tl.completed', { destination: '<b>x</b><img src=x>' });
    expect(pieces[0]).toEqual({ tag: 'b', text: '<b>x</b><img src=x>' });
  });
});
