import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConnectorFiles } from '../../../../src/cli/config-files/connector-files.ts';
import { escapeVariables, replaceFileVariables } from '../../../../src/cli/config-files/file-variables.ts';

const nothing = () => undefined;

describe('connectors in files', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-files-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const put = (name: string, text: string) => writeFile(join(folder, name), text);
  const read = (variables = {}) => readConnectorFiles({ folder, variables, learn: nothing });

  it('are read as JSON, flat JSON, YAML with several documents, and properties', async () => {
    await put('a.json', '{"name": "a", "state": "PAUSED", "config": {"tasks.max": 2, "x": "1", "topics": ["t", "u"]}}');
    await put('b.json', '{\n\t"name": "b",\n\t"big": 12345678901234567890\n}');
    await put(
      'c.yaml',
      'name: c\nconfig:\n  tasks.max: 1\n  ratio: 1.50\n---\nname: d\ninitial_state: stopped\nconfig: {on: yes}\n',
    );
    await put('e.properties', '# a comment\nname=e\ntopics=t\\\n  ,u\n');
    await put('notes.txt', 'no connector');
    const shown = (await read()).map(({ name, config, state, initialState, place }) => ({
      ...{ config, state, initialState, place, name },
    }));
    assert.deepEqual(shown, [
      {
        name: 'a',
        config: { name: 'a', 'tasks.max': '2', x: '1', topics: 't,u' },
        state: 'paused',
        initialState: undefined,
        place: 'a.json:1',
      },
      {
        name: 'b',
        config: { name: 'b', big: '12345678901234567890' },
        state: undefined,
        initialState: undefined,
        place: 'b.json:1',
      },
      {
        name: 'c',
        config: { name: 'c', 'tasks.max': '1', ratio: '1.50' },
        state: undefined,
        initialState: undefined,
        place: 'c.yaml:1',
      },
      {
        name: 'd',
        config: { name: 'd', on: 'yes' },
        state: undefined,
        initialState: 'stopped',
        place: 'c.yaml:6',
      },
      {
        name: 'e',
        config: { name: 'e', topics: 't,u' },
        state: undefined,
        initialState: undefined,
        place: 'e.properties:1',
      },
    ]);
  });

  it('may be KafkaConnector resources of Strimzi; other resources are passed over', async () => {
    await put(
      's.yaml',
      'apiVersion: kafka.strimzi.io/v1\nkind: KafkaConnector\nmetadata: {name: s}\nspec:\n  class: C\n  tasksMax: 3\n  pause: true\n  config: {k: v}\n---\napiVersion: v1\nkind: Secret\n',
    );
    const [first, ...others] = await read();
    assert.deepEqual(first?.config, { 'connector.class': 'C', 'tasks.max': '3', k: 'v', name: 's' });
    assert.equal(first.state, 'paused');
    assert.deepEqual(others, []);
  });

  it('that are wrong are all named, with file and line', async () => {
    await put('a.yaml', 'name: a\nconfig:\n  url: ${NO_SUCH}\n');
    await put('b.json', '{"name": "x", "config": {}}');
    await put('c.json', '\n{"name": "x", "config": {}}');
    await put('d.yaml', 'name: d\nconfig:\n  k: 1\n  k: 2\n');
    await put('e.properties', 'name=e\nk=1\nk=2\n');
    await put('f.json', '{"name": "f", "state": "gone",\n "config": {"k": null}}');
    await put('g.json', '{"config": {}}');
    await assert.rejects(read(), (error: Error) => {
      const lines = error.message.split('\n');
      assert.match(lines[0] ?? '', /^a\.yaml:3: The variable NO_SUCH has no value/);
      assert.match(lines[1] ?? '', /^c\.json:2: the connector x is also described at b\.json:1$/);
      assert.match(lines[2] ?? '', /^d\.yaml:4: Map keys must be unique/);
      assert.match(lines[3] ?? '', /^e\.properties:3: the key k occurs twice/);
      assert.match(lines[4] ?? '', /^f\.json:2: k must be a text/);
      assert.match(lines[5] ?? '', /^g\.json:1: the connector has no name$/);
      assert.equal(lines.length, 6);
      return true;
    });
  });

  it("take variables and defaults, and leave references to Connect's config providers alone", () => {
    const learned: string[] = [];
    const replace = (text: string) =>
      replaceFileVariables(text, { HOST: 'db', EMPTY: '', DB_PASSWORD: 'geheim' }, (secret) => learned.push(secret));
    assert.equal(replace('//${HOST}:${PORT:-5432}/${EMPTY:-x}${EMPTY}'), '//db:5432/x');
    assert.equal(
      replace('${file:/etc/s.properties:k} ${env:HOST} $1 $${topic}'),
      '${file:/etc/s.properties:k} ${env:HOST} $1 ${topic}',
    );
    assert.equal(replace('${DB_PASSWORD}'), 'geheim');
    assert.deepEqual(learned, ['geheim']);
    assert.throws(() => replace('${toString}'), /toString has no value/);
  });

  it('have texts with variables escaped so that they are read as they were', () => {
    for (const text of [
      '${topic}',
      '$${topic}',
      '$$${a:-b}',
      '${file:a:b}',
      '$${file:a:b}',
      '${',
      '$$',
      '${a:-${b}}',
    ]) {
      assert.equal(replaceFileVariables(escapeVariables(text), {}, nothing), text, text);
    }
  });
});
