import { checkConverterCase, type ConverterCase } from './converter-cases.ts';
import { checkCases, readGolden } from './golden-data.ts';

describe('the simple converters, against the cases recorded from the Java classes', () => {
  it('read and write as Java does', function () {
    const cases = readGolden<ConverterCase[]>('connect-data/simple-converters.json');
    if (cases === undefined) return this.skip();
    checkCases('simple-converters', cases, {}, checkConverterCase);
  });
});
