/** A string, which is a name when a colon follows, or a number. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*(?:"(?:\s*(:))?|\\?$)|-?\d[\d.eE+-]*/gs;

/** JSON text with `hide` done to its texts and numbers, whatever it finds in them, and not to its names. */
export function hiddenInJson(json: string, hide: (text: string) => string): string {
  return json.replace(TOKEN, (token: string, colon: string | undefined) => {
    if (colon === ':') return token;
    if (!token.startsWith('"')) return hide(token) === token ? token : JSON.stringify(hide(token));
    const text = JSON.parse(token) as string;
    const shown = hide(text);
    return shown === text ? token : JSON.stringify(shown);
  });
}
