import { useState } from 'preact/hooks';
import type { ConfigKeyInfo, PluginInfo } from '../common/answers.ts';
import { inPath, request } from '../common/api.ts';
import { Documentation } from '../common/documentation.tsx';
import { shortClass } from '../common/format.ts';
import { Button } from '../kit/button.tsx';
import { TextField } from '../kit/field.tsx';
import { Async, usePolled } from '../kit/loaded.tsx';
import { Table } from '../kit/table.tsx';
import { texts } from '../texts/cluster.ts';
import { matchingOptions, matchingPlugins } from './plugin-search.ts';

/** The plugins of this worker, and the options of one of them. */
export function Plugins() {
  const loaded = usePolled('plugins', () =>
    request<readonly PluginInfo[]>('GET', '/connector-plugins?connectorsOnly=false'),
  );
  return <Async of={loaded}>{(plugins) => <PluginList plugins={plugins} />}</Async>;
}

function PluginList({ plugins }: { readonly plugins: readonly PluginInfo[] }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<PluginInfo | undefined>();
  const found = matchingPlugins(plugins, text);
  return (
    <>
      <Search label={texts.search} text={text} change={setText} found={found.length} all={plugins.length} />
      {found.length === 0 ? <p class="empty">{texts.noPlugin}</p> : null}
      <div class="plugins">
        <Table label={texts.plugins} titles={[texts.plugin, texts.kind, texts.version]}>
          {found.map((plugin) => (
            <PluginRow
              key={idOf(plugin)}
              plugin={plugin}
              isChosen={chosen !== undefined && idOf(plugin) === idOf(chosen)}
              choose={() => setChosen(plugin)}
            />
          ))}
        </Table>
        {chosen === undefined ? (
          <p class="empty">{texts.choosePlugin}</p>
        ) : (
          <Options key={idOf(chosen)} plugin={chosen} />
        )}
      </div>
    </>
  );
}

interface PluginRowProps {
  readonly plugin: PluginInfo;
  readonly isChosen: boolean;
  readonly choose: () => void;
}

function PluginRow({ plugin, isChosen, choose }: PluginRowProps) {
  return (
    <tr class={isChosen ? 'chosen' : ''}>
      <th scope="row">
        <Button class="link" aria-pressed={isChosen} onClick={choose}>
          {shortClass(plugin.class)}
        </Button>
        <small class="below">
          <Wrappable text={plugin.class} />
        </small>
      </th>
      <td>{plugin.type}</td>
      <td class="nowrap">{plugin.version}</td>
    </tr>
  );
}

function Options({ plugin }: { readonly plugin: PluginInfo }) {
  const query = plugin.version === null ? '' : `?version=${inPath(`[${plugin.version}]`)}`;
  const path = `/connector-plugins/${inPath(plugin.class)}/config${query}`;
  const loaded = usePolled(path, () => request<readonly ConfigKeyInfo[]>('GET', path));
  const title = texts.optionsOf(shortClass(plugin.class));
  return (
    <section class="options" aria-label={title}>
      <h2>{title}</h2>
      <Async of={loaded}>{(options) => <OptionList title={title} options={options} />}</Async>
    </section>
  );
}

function OptionList({ title, options }: { readonly title: string; readonly options: readonly ConfigKeyInfo[] }) {
  const [text, setText] = useState('');
  const found = matchingOptions(options, text);
  return (
    <>
      <Search label={texts.searchOptions} text={text} change={setText} found={found.length} all={options.length} />
      {found.length === 0 ? <p class="empty">{texts.noOption}</p> : null}
      <Table label={title} titles={[texts.option, texts.meaning]}>
        {found.map((option) => (
          <tr key={option.name}>
            <th scope="row">
              <Wrappable text={option.name} />
            </th>
            <td class="meaning">
              <Documentation text={option.documentation} />
              <small class="below">
                {option.type.toLowerCase()}, {texts.importanceOf(option.importance.toLowerCase())},{' '}
                {option.required ? <em>{texts.required}</em> : <DefaultText text={option.default_value} />}
              </small>
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function DefaultText({ text }: { readonly text: string | null }) {
  if (text === null) return <>{texts.noDefault}</>;
  return (
    <>
      {texts.default} {text === '' ? <i>{texts.emptyText}</i> : <code>{text}</code>}
    </>
  );
}

interface SearchProps {
  readonly label: string;
  readonly text: string;
  readonly found: number;
  readonly all: number;
  readonly change: (text: string) => void;
}

function Search({ label, text, found, all, change }: SearchProps) {
  return (
    <div class="filters">
      <TextField label={label} type="search" value={text} onInput={change} />
      <span class="quiet" role="status">
        {texts.ofPlugins(found, all)}
      </span>
    </div>
  );
}

function idOf(plugin: PluginInfo): string {
  return `${plugin.class} ${plugin.version ?? ''}`;
}

/** A long name that may wrap after each of its parts. */
function Wrappable({ text }: { readonly text: string }) {
  return <>{text.split(/(?<=[._-])/).map((part, index) => [index === 0 ? null : <wbr key={index} />, part])}</>;
}
