/** A folder's name as people read it: on the wire it is in modified UTF-7 (RFC 3501, section 5.1.3). */
export const readable = (wire: string): string =>
  wire.replace(/&([A-Za-z0-9+,]*)-/g, (whole, code: string) => {
    if (code === '') return '&';
    try {
      const bytes = atob(code.replaceAll(',', '/'));
      const units = Array.from(
        { length: bytes.length >> 1 },
        (_, at) => bytes.charCodeAt(2 * at) * 256 + bytes.charCodeAt(2 * at + 1),
      );
      return String.fromCharCode(...units);
    } catch {
      return whole;
    }
  });
