import assert from 'node:assert/strict';
import { DatePatternError } from '../../../src/java/date-format/date-pattern.ts';
import { SimpleDateFormat } from '../../../src/java/date-format/simple-date-format.ts';

const MOMENT = Date.UTC(2020, 0, 2, 3, 4, 5, 6);

function written(pattern: string, ms: number | bigint = MOMENT): string {
  return new SimpleDateFormat(pattern).format(ms);
}

function read(pattern: string, text: string): string | undefined {
  const ms = new SimpleDateFormat(pattern).parse(text);
  return ms === undefined ? undefined : new Date(Number(ms)).toISOString();
}

describe('dates by patterns of SimpleDateFormat', () => {
  it('are formatted with every letter, in UTC and English', () => {
    assert.equal(written("yyyy-MM-dd'T'HH:mm:ss.SSSXXX"), '2020-01-02T03:04:05.006Z');
    assert.equal(written('EEE, d MMM yy h:mm a Z'), 'Thu, 2 Jan 20 3:04 AM +0000');
    assert.equal(written("EEEE MMMM G zzzz ''yyyyyy"), "Thursday January AD Coordinated Universal Time '002020");
    assert.equal(written('D F w W u k K YYYY'), '2 1 1 1 4 3 3 2020');
    assert.equal(written('YYYY-ww', Date.UTC(2021, 11, 31)), '2022-01');
  });

  it('do not depend on previously formatted dates', () => {
    const pattern = "SSS yyyy-MM-dd'T'HH:mm:ss.SS Z S";
    const format = new SimpleDateFormat(pattern);
    for (const ms of [0, 7, 999, 1000, -1, -1000, 7, 1_700_000_000_123, 1_700_000_000_023n, 9_007_199_254_740_991n]) {
      assert.equal(format.format(ms), new SimpleDateFormat(pattern).format(ms), String(ms));
    }
    assert.equal(format.format(-1), '999 1969-12-31T23:59:59.999 +0000 999');
    assert.equal(format.format(1_700_000_000_023n), '023 2023-11-14T22:13:20.23 +0000 23');
  });

  it('are Julian before 1582-10-15, and years before 1 are BC', () => {
    assert.equal(written('yyyy-MM-dd', -12_219_292_800_000), '1582-10-15');
    assert.equal(written('yyyy-MM-dd', -12_219_292_800_001), '1582-10-04');
    assert.equal(written('yyyy-MM-dd G', -99_999_999_999_999), '1200-02-26 BC');
    assert.equal(written('yyyy', 9_223_372_036_854_775_807n), '292278994');
  });

  it('are parsed leniently: fields roll over, trailing text and blanks before numbers are ignored', () => {
    assert.equal(read('yyyy-MM-dd', '2020-14-35 and more'), '2021-03-07T00:00:00.000Z');
    assert.equal(read('yyyyMMddHHmm', '202001020304'), '2020-01-02T03:04:00.000Z');
    assert.equal(read('yyyy-MM-dd HH:mm', '2020-01-02   3:4'), '2020-01-02T03:04:00.000Z');
    assert.equal(read('MMM d yyyy h a', 'january 2 2020 12 am'), '2020-01-02T00:00:00.000Z');
    assert.equal(read("YYYY-'W'ww-u", '2020-W01-1'), '2019-12-30T00:00:00.000Z');
    assert.equal(read('yyyy MM W E', '2020 01 2 Thu'), '2020-01-09T00:00:00.000Z');
  });

  it('with two-digit years are within eighty years before and twenty after now', () => {
    assert.equal(read('yy-MM-dd', '20-02-03'), '2020-02-03T00:00:00.000Z');
    assert.equal(read('yy-MM-dd', '99-02-03'), '1999-02-03T00:00:00.000Z');
    assert.equal(read('yy-MM-dd', '2020-02-03'), '2020-02-03T00:00:00.000Z');
  });

  it('accept zones as offsets and names; the last zone is kept', () => {
    assert.equal(read('HH:mm Z', '03:04 +0530'), '1969-12-31T21:34:00.000Z');
    assert.equal(read('HH:mmXXX', '03:04-01:00'), '1970-01-01T04:04:00.000Z');
    assert.equal(read('yyyy-MM-dd HH:mm z', '2020-07-02 03:04 GMT+2:00'), '2020-07-02T01:04:00.000Z');
    assert.equal(read('yyyy-MM-dd HH:mm z', '2020-07-02 03:04 GMT+02:00'), '2020-07-02T01:04:00.000Z');
    const format = new SimpleDateFormat('yyyy-MM-dd HH:mm z');
    assert.equal(format.parse('2020-07-02 03:04 PDT'), BigInt(Date.UTC(2020, 6, 2, 10, 4)));
    assert.equal(format.format(MOMENT), '2020-01-01 19:04 PST');
    assert.equal(format.parse('2020-07-02 03:04 UTC'), BigInt(Date.UTC(2020, 6, 2, 3, 4)));
    assert.equal(format.format(MOMENT), '2020-01-02 03:04 UTC');
  });

  it('that do not match the pattern are not parsed', () => {
    assert.equal(read('yyyy-MM-dd', '2020/01/02'), undefined);
    assert.equal(read('yyyy-MM-dd', ''), undefined);
    assert.equal(read('yyyy-MM-dd', 'x2020-01-02'), undefined);
    assert.equal(read('ssXXX', '05+0530'), undefined);
  });

  it('with a malformed pattern are rejected with Java’s message', () => {
    assert.throws(() => new SimpleDateFormat('QQQ'), new DatePatternError("Illegal pattern character 'Q'"));
    assert.throws(() => new SimpleDateFormat("yyyy'"), new DatePatternError('Unterminated quote'));
    assert.throws(() => new SimpleDateFormat('XXXX'), new DatePatternError('invalid ISO 8601 format: length=4'));
  });
});
