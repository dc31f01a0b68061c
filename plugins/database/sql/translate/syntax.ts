import type { TokenReader } from '../token-reader.ts';
import { intervalOf, readDuration } from './durations.ts';
import { Refused } from './translation.ts';

/**
 * Translates a statement that PostgreSQL rejected with a syntax error: durations such as `1h` become intervals. Returns
 * `undefined` if there are none. Throws Refused for unsupported syntax.
 */
export function translateSyntax(reader: TokenReader): string | undefined {
  const { text, tokens } = reader;
  let translated = '';
  let copied = 0;
  for (let index = 0; index < tokens.length; index++) {
    reader.position = index;
    if (reader.isWords('AS', 'OF', 'SYSTEM', 'TIME')) {
      throw new Refused(
        'AS OF SYSTEM TIME is not available on PostgreSQL, which keeps no earlier versions of rows: ' +
          'omit it to read the current rows, or store earlier versions in a separate table',
      );
    }
    const token = tokens[index];
    const duration = token?.kind === 'number' ? readDuration(reader.source(token)) : undefined;
    if (token === undefined || duration === undefined) continue;
    translated += text.slice(copied, token.start) + intervalOf(duration);
    copied = token.end;
  }
  return copied === 0 ? undefined : translated + text.slice(copied);
}
