/**
 * Addresses of an ntfy topic: one its app opens (docs.ntfy.sh, "ntfy:// links"), one for a browser. The app's form has
 * no place for a path before the topic.
 */
export function ntfyAddresses(server: string, topic: string): { app?: string; web: string } | undefined {
  try {
    const url = new URL(server);
    if (!/^https?:$/.test(url.protocol) || topic.trim() === '') return undefined;
    const base = url.pathname.replace(/\/+$/, '');
    const last = encodeURIComponent(topic.trim());
    const web = `${url.origin}${base}/${last}`;
    if (base !== '') return { web };
    return { app: `ntfy://${url.host}/${last}${url.protocol === 'http:' ? '?secure=false' : ''}`, web };
  } catch {
    return undefined;
  }
}
