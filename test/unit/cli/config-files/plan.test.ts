import assert from 'node:assert/strict';
import type { ClusterConnector } from '../../../../src/cli/config-files/connect-client.ts';
import type { DesiredConnector } from '../../../../src/cli/config-files/connector-files.ts';
import { fileStem, propertiesText } from '../../../../src/cli/config-files/export.ts';
import { planText } from '../../../../src/cli/config-files/plan-text.ts';
import { compare } from '../../../../src/cli/config-files/plan.ts';
import { parseProperties } from '../../../../src/config/properties-file.ts';
import { SecretMask } from '../../../../src/observe/secret-mask.ts';

const TYPES = new Map([
  ['db.auth', 'PASSWORD'],
  ['connection.url', 'STRING'],
]);

function desired(config: Record<string, string>, state?: 'running' | 'paused'): DesiredConnector {
  return { name: 'c', config: { name: 'c', ...config }, state, initialState: undefined, place: 'c.json:1' };
}

type State = NonNullable<ClusterConnector['status']>['connector']['state'];

function current(config: Record<string, string | null>, state: State = 'RUNNING'): ClusterConnector {
  return {
    info: { config: { name: 'c', ...config }, tasks: [0, 1].map((task) => ({ connector: 'c', task })), type: 'sink' },
    status: { connector: { state, worker_id: 'w:8083' } },
  };
}

const planned = (want: DesiredConnector, have: ClusterConnector | undefined) =>
  compare(want, have, TYPES, new SecretMask());

describe('a plan', () => {
  it('shows keys that come, change and go, and what restarts', () => {
    const plan = planned(desired({ a: '1', b: '2' }), current({ b: '3', c: null }));
    assert.equal(plan.action, 'change');
    assert.deepEqual(plan.changes, [
      { key: 'a', after: '1' },
      { key: 'b', before: '3', after: '2' },
      { key: 'c', before: null },
    ]);
    assert.deepEqual(plan.restarts, { connector: true, tasks: 2 });
    const limited = planned(desired({ a: '1', 'rate.limit.records': '10' }), current({ a: '1' }));
    assert.deepEqual([limited.action, limited.restarts], ['change', undefined], 'a rate limit restarts nothing');
  });

  it('hides secrets by the type of the option, by their names and in URLs, but shows that they differ', () => {
    const have = current({
      'db.auth': 'alt',
      'my.password': 'x1',
      'connection.url': 'a://u:geheim@h',
      'b.token': '${file:f:k}',
    });
    const want = desired({
      'db.auth': 'neu',
      'my.password': 'x2',
      'connection.url': 'a://h',
      'b.token': '${file:f:l}',
    });
    assert.deepEqual(planned(want, have).changes, [
      { key: 'b.token', before: '${file:f:k}', after: '${file:f:l}' },
      { key: 'connection.url', before: '[hidden]', after: 'a://h' },
      { key: 'db.auth', before: '[hidden]', after: '[hidden]' },
      { key: 'my.password', before: '[hidden]', after: '[hidden]' },
    ]);
  });

  it('says which values the cluster hides, and takes them for no difference', () => {
    const plan = planned(desired({ 'db.auth': 'neu' }), current({ 'db.auth': '[hidden]' }));
    assert.deepEqual([plan.action, plan.notComparable, plan.changes], ['unchanged', ['db.auth'], []]);
    assert.match(planText({ connectors: [plan], notInFiles: [] }), /\? db\.auth cannot be compared/);
  });

  it('compares the state only where the file names one', () => {
    assert.equal(planned(desired({}), current({}, 'PAUSED')).action, 'unchanged');
    assert.deepEqual(planned(desired({}, 'running'), current({}, 'PAUSED')).state, {
      before: 'paused',
      after: 'running',
    });
    assert.equal(planned(desired({}, 'running'), current({}, 'FAILED')).action, 'unchanged');
    assert.equal(planned(desired({}, 'paused'), undefined).action, 'create');
  });
});

describe('an export', () => {
  it('makes names of files that are safe on any system, and never the same', () => {
    const taken = new Set<string>();
    const stems = ['a/b', 'A_b', '../x', 'con', '', 'ü'].map((name) => fileStem(name, taken));
    assert.deepEqual(stems, ['a_b', 'A_b-2', '__x', '_con', '_', '_-2']);
  });

  it('writes properties that are read as they were', () => {
    const config = { 'a b': ' x', 'c=d': 'ä\\n\n\t', '#e': '', name: 'n:=!#' };
    assert.deepEqual(parseProperties(propertiesText(config)), config);
  });
});
