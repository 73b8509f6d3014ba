import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

const page = (name) => ({
  files: [`src/pages/${name}/**`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          { regex: `^\\$pages/|pages/(?!${name}/)|^\\.\\./`, message: 'A page imports no other page, only $lib.' },
          { regex: 'shell/', message: 'The shell composes pages; a page does not know it.' },
          { regex: '^@tauri-apps', message: 'Only lib/api talks to the bridge.' },
        ],
      },
    ],
  },
});
const pages = [
  'status',
  'history',
  'duplicates',
  'attention',
  'mailboxes',
  'destinations',
  'rules',
  'general',
  'setup',
];
const bridge = {
  regex: '^@tauri-apps',
  message: 'Only lib/api talks to the bridge.',
};

export default ts.config(
  { ignores: ['dist/', 'node_modules/', 'shots/'] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    rules: {
      'no-console': 'error',
      'no-eval': 'error',
      'no-restricted-imports': ['error', { patterns: [bridge] }],
      'no-restricted-globals': [
        'error',
        { name: 'fetch', message: 'Nothing remote: everything goes through lib/api.' },
        { name: 'XMLHttpRequest', message: 'Nothing remote: everything goes through lib/api.' },
        { name: 'WebSocket', message: 'Nothing remote: everything goes through lib/api.' },
        { name: 'localStorage', message: 'What is to be kept is a setting of the engine.' },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig } },
    rules: {
      // Mail text is only ever text.
      'svelte/no-at-html-tags': 'error',
      // A space that the formatter must not eat.
      'svelte/no-useless-mustaches': 'off',
      'svelte/no-navigation-without-resolve': 'off',
      'svelte/prefer-svelte-reactivity': 'off',
    },
  },
  {
    files: ['src/lib/design/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            bridge,
            {
              regex: '\\$pages|\\$lib/(api|mail|words|keys)|/(pages|shell|api|mail|words|keys)/',
              message: 'The design knows nothing of mail, words or the bridge.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['src/lib/{api,mail,words,keys}/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: '\\$pages|/(pages|shell)/', message: 'What is shared knows no page.' }] },
      ],
    },
  },
  ...pages.map(page),
  { files: ['src/lib/api/tauri.ts'], rules: { 'no-restricted-imports': 'off' } },
  { files: ['scripts/**', 'tests/**'], rules: { 'no-console': 'off' } },
);
