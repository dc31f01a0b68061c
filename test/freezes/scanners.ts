import { codePatterns } from './patterns.ts';
import { CONFIGURATION_SCANNERS } from './configuration-scanners.ts';
import { MESSAGE_SCANNERS } from './message-scanners.ts';
import { REQUEST_SCANNERS } from './request-scanners.ts';
import { scanner, type Scanner } from './scanner.ts';

/** Everything that reads text from outside. */
export const SCANNERS: readonly Scanner[] = [...MESSAGE_SCANNERS, ...CONFIGURATION_SCANNERS, ...REQUEST_SCANNERS];

/** Each regular expression of the code on its own; a global one continues from match to match, to the end of the text. */
export function patternScanners(): Scanner[] {
  return codePatterns().map(({ source, flags, place }) => {
    const pattern = new RegExp(source, flags);
    return scanner(`/${source}/${flags} (${place})`, (text) =>
      pattern.global ? text.replace(pattern, '') : pattern.test(text),
    );
  });
}
