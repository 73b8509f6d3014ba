/** Addresses of an ntfy topic: one its app opens, one for a browser. */
export function ntfyAddresses(server: string, topic: string): { app: string; web: string } | undefined {
  try {
    const url = new URL(server);
    if (!/^https?:$/.test(url.protocol) || topic.trim() === '') return undefined;
    const path = `${url.pathname.replace(/\/+$/, '')}/${encodeURIComponent(topic.trim())}`;
    const insecure = url.protocol === 'http:' ? '?secure=false' : '';
    return { app: `ntfy://${url.host}${path}${insecure}`, web: `${url.origin}${path}` };
  } catch {
    return undefined;
  }
}
