import { DataError } from '../../errors.ts';

const MAX_PARTS = 50_000;
const MAX_LEVELS = 200;

/**
 * Limits the size of a Connect schema during its translation from a registered schema. A named type is expanded wherever it is
 * used, so a short text in which each type uses the next one twice would double the schema at every level.
 */
export class SchemaBudget {
  #parts = 0;
  #levels = 0;

  /**
   * Creates one part of the schema and the parts nested in it.
   * @throws DataError beyond 50,000 parts or 200 levels
   */
  part<T>(make: () => T): T {
    if (++this.#parts > MAX_PARTS) {
      throw new DataError(`The schema has more than ${String(MAX_PARTS)} parts when its named types are expanded`);
    }
    if (this.#levels >= MAX_LEVELS) throw new DataError(`The schema has more than ${String(MAX_LEVELS)} levels`);
    this.#levels += 1;
    const made = make();
    this.#levels -= 1;
    return made;
  }
}
