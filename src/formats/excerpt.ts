const MAX_SHOWN = 60;

/** A piece of a bad message as faults show it: quoted, and cut to what a log line can bear. */
export function shown(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 3)}...` : text);
}
