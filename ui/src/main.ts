import { mount } from 'svelte';
import { Api } from '$lib/api/api.svelte';
import { openHost } from '$lib/api/open';
import '$lib/design/tokens.css';
import '$lib/design/base.css';
import App from './shell/App.svelte';

const target = document.getElementById('app');
if (!target) throw new Error('The page has no place for the window');
mount(App, { target, props: { api: new Api(await openHost(window)) } });
