//! The pages of the history: all repositories, one repository, one review.

use std::{collections::BTreeMap, fmt::Write as _};

use probity_report::review::html::{
    self,
    chart::{sparkline, trend},
    page::{escape, grouped, moment, page, path, table},
};
use probity_review::{Entry, History, HistoryError, TrendPoint};

use super::Refused;
use crate::commands::review::{
    history::trend_point,
    trend::{branches, spent},
    verdict::accuracy,
};

/// As many reviews are looked at.
const MOST: u32 = 5000;
/// As many reviews of a repository are listed.
const LISTED: usize = 200;

/// The answer to a path and its query.
pub(super) fn answer(target: &str, history: &mut History) -> Result<String, Refused> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let value = query.split('&').find_map(|part| part.split_once('=')).map(|(_, value)| value);
    let made = match (path, value) {
        ("/", _) => home(history).map(Ok),
        ("/repo", Some(name)) => {
            let name = decoded(name);
            repository(history, &name).map(|page| page.ok_or(Refused::Repository(name)))
        }
        ("/review", Some(id)) => {
            let named = decoded(id);
            review(history, id).map(|page| page.ok_or(Refused::Review(named)))
        }
        _ => Ok(Err(Refused::Page)),
    };
    made.unwrap_or_else(|error| {
        tracing::warn!("{error}");
        Err(Refused::History)
    })
}

/// A page with the reason why the requested page is missing, and a link to one that exists.
pub(super) fn refused(refused: &Refused) -> String {
    let (heading, why) = match refused {
        Refused::Host(address) => (
            "Wrong host",
            format!(
                "This server answers only requests for <code>{address}</code> or \
                 <code>localhost:{}</code>.",
                address.port()
            ),
        ),
        Refused::Token => (
            "Token required",
            "Open the URL that <code>probity review serve</code> printed: it ends with the token \
             of this server. A browser that has opened it needs the token no more."
                .to_owned(),
        ),
        Refused::Method => (
            "Method not allowed",
            "This server only shows pages, so it accepts only GET and HEAD.".to_owned(),
        ),
        Refused::Page => ("Page not found", "No page has this URL.".to_owned()),
        Refused::Repository(name) => (
            "Repository not found",
            format!("The history has no review of <code>{}</code>.", path(name)),
        ),
        Refused::Review(id) => (
            "Review not found",
            format!(
                "The history has no review with the number <code>{}</code>. Somebody may have \
                 deleted it.",
                escape(id)
            ),
        ),
        Refused::History => (
            "History not readable",
            "The terminal that runs <code>probity review serve</code> shows the reason.".to_owned(),
        ),
    };
    // A link without a host would lead back to the wrong one.
    let home = match refused {
        Refused::Host(address) => format!("http://{address}/"),
        _ => "/".to_owned(),
    };
    let body = format!(
        "<h1>{heading}</h1>\n<p>{why}</p>\n<p><a href=\"{home}\">All repositories</a></p>\n"
    );
    page(heading, "", &body)
}

fn home(history: &mut History) -> Result<String, HistoryError> {
    let entries = history.list(None, MOST)?;
    let mut repos: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in entries.iter().rev() {
        repos.entry(&entry.repo).or_default().push(entry);
    }
    let rows: Vec<Vec<String>> = repos
        .into_iter()
        .map(|(repo, entries)| {
            let link = format!("<a href=\"/repo?name={}\">{}</a>", encoded(repo), path(repo));
            let last = entries.last().copied();
            let score = last.map_or_else(String::new, shown_score);
            // The scores of several branches in one line would mean nothing.
            let branch = last.map(|last| &last.branch);
            let of_branch = entries.iter().filter(|entry| Some(&entry.branch) == branch);
            let line = sparkline(of_branch.filter_map(|entry| entry.score));
            vec![link, entries.len().to_string(), score, line]
        })
        .collect();
    let mut text = "<h1>Reviews</h1>\n".to_owned();
    if rows.is_empty() {
        text.push_str(
            "<p>The history has no reviews yet. Run <code>probity review</code> in a repository, \
             then reload this page.</p>\n",
        );
    } else {
        text.push_str(&table(
            "Repositories",
            &["Repository", "Reviews", "Last score", "Trend"],
            &rows,
        ));
    }
    figures(&mut text, history, &entries, None)?;
    Ok(page("Reviews", "", &text))
}

fn repository(history: &mut History, repo: &str) -> Result<Option<String>, HistoryError> {
    let entries = history.list(Some(repo), MOST)?;
    if entries.is_empty() {
        return Ok(None);
    }
    let mut text = format!("<p><a href=\"/\">All repositories</a></p>\n<h1>{}</h1>\n", path(repo));
    let mut branches: Vec<_> = branches(&entries).into_iter().collect();
    // The branch that somebody works on comes first.
    branches.sort_by_key(|(_, entries)| std::cmp::Reverse(entries.last().map(|entry| entry.id)));
    for ((_, branch), entries) in branches {
        let points: Vec<TrendPoint> =
            entries.iter().filter_map(|entry| trend_point(entry)).collect();
        // Writing to a string cannot fail.
        _ = writeln!(text, "<h2>Branch {}</h2>", path(branch));
        if points.len() > 1 {
            text.push_str(&trend(&points, entries.last().map(|entry| entry.threshold)));
        }
        let rows: Vec<Vec<String>> =
            entries.iter().rev().take(LISTED).map(|entry| row(entry)).collect();
        let headings = ["Review", "Commit", "Score", "Proven issues", "Agent", "US dollars"];
        text.push_str(&table("Reviews and issues over time", &headings, &rows));
    }
    figures(&mut text, history, &entries, Some(repo))?;
    Ok(Some(page(repo, "", &text)))
}

fn row(entry: &Entry) -> Vec<String> {
    let commit: String = entry.commit.chars().take(10).collect();
    vec![
        format!("<a href=\"/review?id={}\">{}</a>", entry.id, moment(&entry.created_at)),
        format!("<code>{}</code>", escape(&commit)),
        shown_score(entry),
        entry.proven.to_string(),
        escape(&format!("{} {}", entry.agent, entry.model)),
        entry.usd.map_or_else(String::new, |usd| format!("{usd:.2}")),
    ]
}

fn shown_score(entry: &Entry) -> String {
    match entry.score {
        Some(score) if entry.pass => format!("<span class=\"pass\">{score} passes</span>"),
        Some(score) => format!("<span class=\"fail\">{score} fails</span>"),
        None => "no review".to_owned(),
    }
}

/// How often agents were right, and what they cost.
fn figures(
    text: &mut String,
    history: &mut History,
    entries: &[Entry],
    repo: Option<&str>,
) -> Result<(), HistoryError> {
    let rows: Vec<Vec<String>> = accuracy(&history.verdicts(repo)?)
        .into_iter()
        .map(|([agent, model, category], it)| {
            let right = it.accurate + it.wont_fix;
            let mut row = [agent, model, category].map(|word| escape(&word)).to_vec();
            row.extend([
                right.to_string(),
                it.false_positive.to_string(),
                format!("{}%", it.percent()),
            ]);
            row
        })
        .collect();
    if !rows.is_empty() {
        let headings = ["Agent", "Model", "Category", "Right", "Wrong", "Accuracy"];
        text.push_str("<h2>Accuracy</h2>\n");
        text.push_str(&table("By the verdicts of people", &headings, &rows));
    }
    let rows: Vec<Vec<String>> = spent(entries)
        .into_iter()
        .rev()
        .map(|([month, agent, model], it)| {
            let [month, agent, model] = [month, agent, model].map(|word| escape(&word));
            let mut row = vec![format!("<time datetime=\"{month}\">{month}</time>"), agent, model];
            let usd = it.usd.map_or_else(String::new, |usd| format!("{usd:.2}"));
            // An agent that does not count has not used nothing.
            let is_counted = it.input_tokens > 0 || it.output_tokens > 0;
            let tokens = [it.input_tokens, it.output_tokens];
            let [input, output] =
                tokens.map(|count| if is_counted { grouped(count) } else { String::new() });
            row.extend([it.reviews.to_string(), input, output, usd]);
            row
        })
        .collect();
    if !rows.is_empty() {
        let headings =
            ["Month", "Agent", "Model", "Reviews", "Input tokens", "Output tokens", "US dollars"];
        text.push_str("<h2>Cost</h2>\n");
        text.push_str(&table("By month", &headings, &rows));
    }
    Ok(())
}

fn review(history: &mut History, id: &str) -> Result<Option<String>, HistoryError> {
    let Ok(id) = id.parse() else { return Ok(None) };
    let Some(review) = history.by_id(id)? else { return Ok(None) };
    let (repo, identity) = (&review.metadata.repo, encoded(review.metadata.identity()));
    let back = format!("<p><a href=\"/repo?name={identity}\">{}</a></p>\n", path(repo));
    let title = format!("Review of {repo}");
    Ok(Some(page(&title, &html::filter_style(), &format!("{back}{}", html::body(&review)))))
}

/// Letters, digits and little else go into a URL as they are.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut url, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            url.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            _ = write!(url, "%{byte:02X}");
        }
        url
    })
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let byte = hex.and_then(|pair| u8::from_str_radix(pair, 16).ok());
        match byte {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_through_urls_unchanged() {
        for name in ["github.com/o/r", "a b&c=d?#%41", "größe", "%", "%zz"] {
            assert_eq!(decoded(&encoded(name)), name);
        }
        assert_eq!(decoded("%2"), "%2");
    }
}
