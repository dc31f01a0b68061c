import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { parse as parseProperties } from 'dot-properties';
import { parse as parseYaml } from 'yaml';
import { curlCommand, propertiesText, strimziText } from '../../src/editor/config-copies.ts';
import type { Entry } from '../../src/editor/config-document.ts';

const HOSTILE = [
  `'; touch /tmp/x; '`,
  `''`,
  `'`,
  `\\'`,
  'a\\',
  '$(id) `id` $HOME !! \\$x',
  '"quoted" \\"twice\\"',
  'line\nbreak\r\ttab\f',
  ' leading and trailing ',
  '# = : ! key',
  '${file:/a:b}',
  '---\n- yes: no',
  '\u0000\u0007\u007f\u0085\u2028\ufeff é 😀',
  '',
  'null',
  '%s %d {{ x }}',
];
const entries: Entry[] = [
  ['name', "it's a sink"],
  ['connector.class', 'com.db.Sink'],
  ['tasks.max', '2'],
  ['connection.password', '[hidden]'],
  ['connection-password', '[hidden]'],
  ...HOSTILE.map((value, index) => [`key ${String(index)} ${value}`, value] as const),
];
const secrets = new Set(['connection.password', 'connection-password']);
const expected = (first: string, second: string) => ({
  ...Object.fromEntries(entries),
  'connection.password': first,
  'connection-password': second,
});

describe('a copy of a configuration', () => {
  it('for a shell passes exactly this configuration to curl, and runs nothing else', () => {
    // A NUL cannot be in a word of a shell; JSON has it escaped.
    const command = curlCommand('https://connect:8083', { entries, secrets });
    const output = execFileSync('sh', ['-c', `curl() { for word; do printf '%s\\0' "$word"; done; }\n${command}`], {
      env: { CONNECTION_PASSWORD: "first'$x", CONNECTION_PASSWORD_2: 'second' },
    });
    const [method, put, url, flag, header, data, body, ...rest] = output.toString().split('\0');
    assert.deepEqual(
      [method, put, flag, header, data],
      ['-X', 'PUT', '-H', 'Content-Type: application/json', '--data-binary'],
    );
    assert.equal(url, "https://connect:8083/connectors/it's%20a%20sink/config");
    assert.deepEqual(JSON.parse(body ?? ''), expected("first'$x", 'second'));
    assert.deepEqual(rest, ['']);
  });

  it('as properties is read by Java without changes', () => {
    const text = propertiesText({ entries, secrets });
    assert.deepEqual(
      { ...parseProperties(text) },
      expected('${env:CONNECTION_PASSWORD}', '${env:CONNECTION_PASSWORD_2}'),
    );
    assert.doesNotMatch(text, /\[hidden\]/);
  });

  it('for Strimzi has the class and the number of tasks as fields, and all other options as text', () => {
    const { metadata, spec } = parseYaml(strimziText({ entries, secrets })) as {
      metadata: { name: string };
      spec: { class: string; tasksMax: number; config: Record<string, string> };
    };
    const {
      name,
      'connector.class': className,
      'tasks.max': tasks,
      ...config
    } = expected('${env:CONNECTION_PASSWORD}', '${env:CONNECTION_PASSWORD_2}') as Record<string, string>;
    assert.equal(name, "it's a sink");
    assert.equal(metadata.name, 'it-s-a-sink');
    assert.deepEqual([spec.class, spec.tasksMax], [className, Number(tasks)]);
    assert.deepEqual(spec.config, config);
  });
});
