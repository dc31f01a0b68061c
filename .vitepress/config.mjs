import { githubAnchor } from '../test/support/github-anchor.ts';

const page = (text, path) => ({ text, link: `/${path}` });

/** The site that `npm run docs` writes to `site`. Its pages are the documents as GitHub shows them, with the same anchors. */
export default {
  title: 'Sluice',
  description: 'A Kafka Connect worker on Node, and the HTTP API of the database',
  srcDir: '.',
  srcExclude: ['{src,plugins,test,site}/**', '.*/**'],
  outDir: 'site',
  cacheDir: 'node_modules/.cache/vitepress',
  rewrites: { 'README.md': 'index.md' },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: [
      {
        items: [
          page('Overview', 'index'),
          page('Running a worker', 'docs/worker'),
          page('Worker options', 'docs/worker-options'),
          page('The console', 'docs/console'),
          page('Troubleshooting', 'docs/troubleshooting'),
        ],
      },
      {
        text: 'Operation',
        items: [
          page('Before the start: doctor', 'docs/doctor'),
          page('Health and restarts', 'docs/health'),
          page('Dead letters', 'docs/dead-letters'),
          page('Changing connectors', 'docs/configurations'),
          page('Clusters', 'docs/cluster'),
          page('Rolling upgrades', 'docs/rolling-upgrade'),
          page('Kubernetes', 'docs/kubernetes'),
          page('Moving from Java workers', 'docs/java-workers'),
          page('Threads', 'docs/threads'),
          page('Monitoring', 'docs/monitoring'),
          page('Upgrading', 'docs/upgrading'),
        ],
      },
      {
        text: 'Connectors',
        items: [
          page('The database sink', 'docs/sink'),
          page('Delivery of the sink', 'docs/sink-delivery'),
          page('A dry run', 'docs/dry-run'),
          page('Options of the sink', 'docs/sink-options'),
          page('The database source', 'docs/source'),
          page('Options of the source', 'docs/source-options'),
          page('The log source', 'docs/log-source'),
          page('Databases and poolers', 'docs/databases'),
          page('Message formats', 'docs/formats'),
          page('Converters', 'docs/converters'),
          page('Transforms and predicates', 'docs/transforms'),
        ],
      },
      {
        text: 'HTTP',
        items: [
          page('The database HTTP API', 'docs/database-api'),
          page('Options of the HTTP API', 'docs/database-api-options'),
        ],
      },
      {
        text: 'Reference',
        items: [
          page('Compatibility', 'docs/compatibility'),
          page('Compatibility matrix', 'docs/compatibility-matrix'),
          page('Benchmarks', 'docs/benchmarks'),
          page('Security', 'SECURITY'),
          page('Changelog', 'CHANGELOG'),
        ],
      },
      {
        text: 'Development',
        items: [
          page('Plugins', 'docs/plugins'),
          page('Contributing', 'CONTRIBUTING'),
          page('Architecture', 'docs/architecture'),
          page('Decisions', 'docs/decisions/README'),
        ],
      },
    ],
  },
  markdown: {
    anchor: { slugify: githubAnchor },
    config(md) {
      md.core.ruler.push('links-of-the-repository', ({ env, tokens }) => {
        for (const { children } of tokens) siteLinks(children ?? [], env.relativePath ?? '');
      });
      // Text is never a template: `{{ … }}` and tags appear as they are written. Comments and entities stay what they are.
      const { rules } = md.renderer;
      for (const rule of ['text', 'code_inline']) {
        const render = rules[rule];
        rules[rule] = (...parts) => render(...parts).replaceAll('{{', '&#123;&#123;');
      }
      for (const rule of ['html_inline', 'html_block']) {
        rules[rule] = (tokens, index) => {
          const { content } = tokens[index];
          const isKept = /^(\s*<!--[\s\S]*-->\s*|&\w+;)$/.test(content);
          return isKept ? content : md.utils.escapeHtml(content).replaceAll('{{', '&#123;&#123;');
        };
      }
    },
  },
};

/** Links to the README lead to the first page; those to other files of the repository, which the site lacks, become text. */
function siteLinks(tokens, page) {
  let isText = false;
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const href = token.attrGet('href') ?? '';
      const { protocol, pathname, hash } = new URL(href, `file:///${page}`);
      if (pathname === '/README.md') token.attrSet('href', `/index.md${hash}`);
      isText = protocol === 'file:' && (!pathname.endsWith('.md') || /^\/(src|plugins|test)\//.test(pathname));
    }
    if (isText && /^link_(open|close)$/.test(token.type)) {
      if (token.type === 'link_close') isText = false;
      Object.assign(token, { type: 'text', tag: '', nesting: 0, content: '' });
    }
  }
}
