import assert from 'node:assert/strict';
import { nearestName } from '../../../src/config/nearest.ts';
import { loadWorkerConfig } from '../../../src/config/worker-config.ts';

const OPTIONS = ['--bootstrap', '--fresh', '--json', '--exit-after', '--data'];

describe('the name that was meant', () => {
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

  it('is none where several begin alike', () => {
    assert.equal(nearestName('offset.storage', ['offset.storage.topic', 'offset.storage.partitions']), undefined);
  });

  it('is not looked for in what is longer than any name', () => {
    assert.equal(nearestName('x'.repeat(1_000_000), ['x'.repeat(999_999)]), undefined);
  });

  it('stands in the warning about a worker property that nobody knows', () => {
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

  it('N2: stands below the error about a worker property that is missing because of it', () => {
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
