import { PARSER_PROPERTIES } from './parsers.ts';

/** What the soak run tries a million inputs of. */
describe('whatever a parser is given', () => {
  for (const { title, check } of PARSER_PROPERTIES) it(title, () => check({ inputs: 1_000 }));
});
