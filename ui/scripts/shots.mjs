// Pictures of every page: light and dark, each language, wide and narrow, full and empty, into `shots/` (not kept).
// Run after a build: node scripts/shots.mjs [part of a name]. Needs a Chromium: CHROMIUM=/usr/bin/chromium.
import { createReadStream, existsSync, mkdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { chromium } from 'playwright-core';

const dist = new URL('../dist/', import.meta.url).pathname;
const out = new URL('../shots/', import.meta.url).pathname;
const only = process.argv[2] ?? '';
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

const server = createServer((request, response) => {
  const path = join(dist, new URL(request.url, 'http://localhost').pathname);
  const file = existsSync(path) && statSync(path).isFile() ? path : join(dist, 'index.html');
  response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' });
  createReadStream(file).pipe(response);
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const base = `http://127.0.0.1:${server.address().port}/`;

const click = (name) => async (page) => page.getByRole('button', { name }).first().click();
const firstMail = async (page) => page.locator('[role=option]').first().click();
const mailAt = (number) => async (page) => page.locator('[role=option]').nth(number).click();
const signIn = async (page) => {
  await page.locator('input[type=email]').fill('mira.novak@example.com');
  await page.keyboard.press('Enter');
  await page.locator('input[type=password]').waitFor();
};
const folders = async (page) => {
  await signIn(page);
  await page.locator('input[type=password]').fill('a long password');
  await page.keyboard.press('Enter');
  await page.locator('input[type=checkbox]').first().waitFor();
};
const wrong = async (page) => {
  await signIn(page);
  await page.locator('input[type=password]').fill('wrong');
  await page.keyboard.press('Enter');
  await page.locator('.bad').waitFor();
};
const submit = async (page) => page.locator('button[type=submit]').click();
const pages = [
  ['status', 'full', 'status'],
  ['status-trouble', 'trouble', 'status'],
  ['history-list', 'full', 'history'],
  ['history', 'full', 'history', firstMail],
  ['history-unsure', 'full', 'history', mailAt(7)],
  ['history-filter', 'full', 'history', click(/^(Filters|Фильтры|Filtry)$/)],
  ['duplicates', 'full', 'duplicates'],
  ['attention', 'full', 'attention'],
  ['mailboxes', 'trouble', 'mailboxes'],
  ['mailbox-add', 'full', 'mailboxes/add'],
  ['mailbox-add-server', 'full', 'mailboxes/add', wrong],
  ['mailbox-add-folders', 'full', 'mailboxes/add', folders],
  ['mailbox-edit', 'full', 'mailboxes/mbwork00'],
  ['destinations', 'full', 'destinations'],
  ['destination-kinds', 'full', 'destinations/add'],
  ['destination-add', 'full', 'destinations/add/ntfy', submit],
  ['rules', 'full', 'rules', click(/50/)],
  ['rule-add', 'full', 'rules/add'],
  ['general', 'full', 'general'],
  ['welcome', 'empty', 'setup'],
  ['setup-destinations', 'empty', 'setup/destinations'],
  ['setup-test', 'full', 'setup/test', async (page) => page.locator('.btn.primary').click()],
  ['empty-status', 'empty', 'status'],
  ['empty-history', 'empty', 'history'],
  ['empty-duplicates', 'empty', 'duplicates'],
  ['empty-attention', 'empty', 'attention'],
  ['empty-mailboxes', 'empty', 'mailboxes'],
  ['empty-destinations', 'empty', 'destinations'],
  ['empty-rules', 'empty', 'rules'],
  ['error-status', 'error', 'status'],
  ['error-history', 'error', 'history'],
  ['loading-history', 'loading', 'history'],
  ['help', 'full', 'history', async (page) => page.keyboard.press('Control+/')],
];

mkdirSync(out, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const problems = [];
const variants = [
  ...['light', 'dark'].map((theme) => ({ theme, lang: 'en', width: 960, height: 640 })),
  ...['ru', 'pl'].map((lang) => ({ theme: 'light', lang, width: 960, height: 640 })),
  { theme: 'light', lang: 'en', width: 640, height: 640 },
  { theme: 'light', lang: 'ru', width: 640, height: 640 },
  { theme: 'dark', lang: 'en', width: 480, height: 640 },
];
for (const { theme, lang, width, height } of variants) {
  const context = await browser.newContext({ viewport: { width, height }, reducedMotion: 'reduce', timezoneId: 'UTC' });
  for (const [name, fake, path, act] of pages) {
    const file = `${name}-${width}-${lang}-${theme}`;
    if (!file.includes(only)) continue;
    const page = await context.newPage();
    page.on('pageerror', (error) => problems.push(`${file}: ${error.message}`));
    page.on('console', (message) => message.type() === 'error' && problems.push(`${file}: ${message.text()}`));
    page.setDefaultTimeout(8000);
    await page.goto(`${base}?fake=${fake}&lang=${lang}&theme=${theme}#/${path}`);
    await page.waitForTimeout(fake === 'loading' ? 400 : 120);
    try {
      await act?.(page);
    } catch (error) {
      problems.push(`${file}: ${error.message.split('\n')[0]}`);
    }
    await page.waitForTimeout(100);
    // Words that do not fit where nothing says that they may be cut.
    const cut = await page.evaluate(() => {
      const wide = document.documentElement.scrollWidth > window.innerWidth ? ['the page scrolls sideways'] : [];
      const buttons = [...document.querySelectorAll('button, .btn, h1, h2, th, label')]
        .filter(
          (e) => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).position !== 'absolute',
        )
        .filter(
          (e) =>
            !e.closest('.sr') &&
            getComputedStyle(e).visibility !== 'hidden' &&
            getComputedStyle(e).overflow !== 'visible',
        )
        .map((e) => `cut: ${e.textContent.trim().slice(0, 40)}`);
      return [...wide, ...buttons];
    });
    problems.push(...cut.map((text) => `${file}: ${text}`));
    await page.screenshot({ path: join(out, `${file}.png`), timeout: 8000 });
    await page.close();
  }
  await context.close();
}
await browser.close();
server.close();
for (const problem of problems) console.log(problem);
console.log(`${problems.length} problems`);
