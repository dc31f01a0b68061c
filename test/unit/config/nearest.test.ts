import assert from 'node:assert/strict';
import { nearestName } from '../../../src/config/nearest.ts';
import { loadWorkerConfig } from '../../../src/config/worker-config.ts';

const OPTIONS = ['--bootstrap', '--fresh', '--json', '--exit-after', '--data'];

describe('the nearest name', () => {
  for (const [given, meant] of [
    ['--bootstrap-servers', '--bootstrap'],
    ['--bootstrap-server', '--bootstrap'],
    ['--fersh', '--fresh'],
    ['--exitafter', '--exit-after'],
    ['--exit', '--exit-after'],
    ['--verbose', undefined],
    ['--js', undefined],
  ] as const) {
    it(`${given}: ${meant ?? 'none'}`, () => assert.equal(nearestName(given, OPTIONS), meant));
  }

  it('is undefined if several names have the prefix', () => {
    assert.equal(nearestName('offset.storage', ['offset.storage.topic', 'offset.storage.partitions']), undefined);
  });

  it('is undefined for excessively long names', () => {
    assert.equal(nearestName('x'.repeat(1_000_000), ['x'.repeat(999_999)]), undefined);
  });

  it('is part of the warning about an unknown worker property', () => {
    const properties = {
      'bootstrap.servers': 'localhost:9092',
      'group.id': 'g',
      'config.storage.topic': 'c',
      'offset.storage.topic': 'o',
      'status.storage.topic': 's',
      'key.converter': 'StringConverter',
      'value.converter': 'StringConverter',
      'offset.flush.intervall.ms': '1000',
      'quite.another.thing': '1',
      listener: 'http://:8083',
    };
    assert.deepEqual(loadWorkerConfig({ mode: 'distributed', properties }).warnings, [
      'offset.flush.intervall.ms is ignored: no such option; did you mean offset.flush.interval.ms?',
      'quite.another.thing is ignored: no such option',
      'listener is ignored: no such option; did you mean listeners?',
    ]);
  });

  it('N2: follows the error about a worker property that is missing because of the misspelling', () => {
    const properties = { 'bootstrap.server': 'localhost:9092', 'quite.another.thing': '1' };
    assert.throws(() => loadWorkerConfig({ mode: 'standalone', properties }), {
      message: [
        'Missing required configuration "bootstrap.servers" which has no default value.',
        'Missing required configuration "key.converter" which has no default value.',
        'Missing required configuration "value.converter" which has no default value.',
        'Missing required configuration "offset.storage.file.filename" which has no default value.',
        'bootstrap.server is ignored: no such option; did you mean bootstrap.servers?',
      ].join('\n'),
    });
  });
});
