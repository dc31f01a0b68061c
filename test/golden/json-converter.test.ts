import { checkConverterCase, type ConverterCase } from './converter-cases.ts';
import { checkCases, readGolden } from './golden-data.ts';

const KNOWN_DIFFERENCES = {
  'json-from-sl-bigint':
    'a schemaless BigInteger: nothing here makes one; it is refused as a BigDecimal would be, the message names that class',
};

describe('JsonConverter, against the cases recorded from the Java class', () => {
  it('reads and writes as Java does', function () {
    const cases = readGolden<ConverterCase[]>('connect-data/json-converter.json');
    if (cases === undefined) return this.skip();
    checkCases('json-converter', cases, KNOWN_DIFFERENCES, checkConverterCase);
  });
});
