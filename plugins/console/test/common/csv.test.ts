import assert from 'node:assert/strict';
import { csvOf } from '../../src/common/csv.ts';
import type { FleetRow } from '../../src/common/answers.ts';
import { fleetCsv } from '../../src/fleet/fleet-csv.ts';

describe('CSV of the console', () => {
  it('quotes where necessary, and distinguishes NULL from an empty text', () => {
    const rows = [
      ['a,b', 'say "x"'],
      [null, ''],
      ['line\nbreak', 9007199254740993n],
    ];
    const text = csvOf(['c0', 'c1'], rows);
    assert.equal(text, 'c0,c1\r\n"a,b","say ""x"""\r\n,""\r\n"line\nbreak",9007199254740993\r\n');
  });

  it('has no text that a spreadsheet runs as a formula, and numbers as they are', () => {
    const cells = ['=1+1', '+cmd', '-2', '@SUM(A1)', '-2+3', '\t=1', -5, true];
    assert.equal(csvOf([], [cells]).split('\r\n')[1], "'=1+1,'+cmd,-2,'@SUM(A1),'-2+3,'\t=1,-5,true");
    assert.equal(csvOf(['=x'], []), "'=x\r\n");
  });

  it('has connectors with their figures in full', () => {
    const row: FleetRow = {
      name: '=HYPERLINK("x")',
      type: 'sink',
      className: 'org.example.Sink',
      verdict: 'LAGGING',
      sentence: '12,345 records behind, and more',
      since: '2026-01-01T00:00:00Z',
      tasks: { RUNNING: 2, FAILED: 1 },
      workers: ['a:8083', 'b:8083'],
      topics: 'orders',
      tables: 'shop.orders',
      rate: 1234.5,
      lag: null,
      deadLettersPerMinute: 0,
      spark: [],
    };
    const [names, line] = fleetCsv([row]).split('\r\n');
    assert.equal(
      names,
      'connector,type,class,verdict,since,why,tasks running,tasks,records/s,lag,dead letters/min,topics,tables,workers',
    );
    assert.equal(
      line,
      `"'=HYPERLINK(""x"")",sink,org.example.Sink,LAGGING,2026-01-01T00:00:00Z,"12,345 records behind, and more",` +
        '2,3,1234.5,,0,orders,shop.orders,a:8083 b:8083',
    );
  });
});
