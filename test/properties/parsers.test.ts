import { PARSER_PROPERTIES } from './parsers.ts';
import { SCANNER_TEXTS } from './scanner-texts.ts';

/** `npm run soak -- parsers` tries the same with a million inputs. */
describe('parsers of texts from outside', () => {
  for (const { title, check } of PARSER_PROPERTIES) it(title, () => check({ inputs: 1_000 }));

  for (const [format, properties] of SCANNER_TEXTS) {
    it(`refuse any text with a reason, or read it: ${format}`, () => {
      for (const { check } of properties) check({ inputs: 100 });
    });
  }
});
