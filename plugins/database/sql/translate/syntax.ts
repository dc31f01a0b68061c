import type { TokenReader } from '../token-reader.ts';
import { intervalOf, readDuration } from './durations.ts';
import { Refused } from './translation.ts';

/**
 * A statement that PostgreSQL has refused for its syntax, with durations such as `1h` as intervals; `undefined` when it has none.
 * Throws Refused for what PostgreSQL cannot do.
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
          'leave it out to read the rows of now, or keep earlier versions in a table of their own',
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
