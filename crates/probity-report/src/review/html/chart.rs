//! Scores as pictures: a chart, a line of characters, a badge.

use std::fmt::Write as _;

use probity_review::TrendPoint;

use super::page::escape;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 160.0;
const MARGIN: f64 = 28.0;

/// The scores of a branch over time, with the threshold as a line.
pub fn trend(points: &[TrendPoint], threshold: Option<f64>) -> String {
    let across = |index: usize| {
        let steps = points.len().saturating_sub(1).max(1) as f64;
        MARGIN + (WIDTH - 2.0 * MARGIN) * index as f64 / steps
    };
    let up = |score: f64| HEIGHT - MARGIN - (HEIGHT - 2.0 * MARGIN) * score.clamp(0.0, 10.0) / 10.0;
    let said = points.iter().map(|point| point.score.to_string()).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" \
         aria-label=\"Scores, the oldest first: {said}\">\n"
    );
    for score in [0.0, 5.0, 10.0] {
        let y = up(score);
        // Writing to a string cannot fail, here and below.
        _ = writeln!(text, "<text x=\"2\" y=\"{:.1}\">{score}</text>", y + 4.0);
    }
    if let Some(threshold) = threshold {
        let (y, end) = (up(threshold), WIDTH - MARGIN);
        _ = writeln!(
            text,
            "<line class=\"bar\" x1=\"{MARGIN}\" x2=\"{end}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
        );
    }
    let ends = [(points.first(), MARGIN, "start"), (points.last(), WIDTH - MARGIN, "end")];
    for (point, x, anchor) in ends {
        let day: String =
            point.map_or("", |point| point.timestamp.as_str()).chars().take(10).collect();
        let (y, day) = (HEIGHT - 6.0, escape(&day));
        _ = writeln!(text, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{day}</text>");
    }
    let line: Vec<String> = points
        .iter()
        .enumerate()
        .map(|(index, point)| format!("{:.1},{:.1}", across(index), up(point.score)))
        .collect();
    _ = writeln!(text, "<polyline class=\"line\" points=\"{}\"/>", line.join(" "));
    for (index, point) in points.iter().enumerate() {
        let commit: String = point.commit.chars().take(10).collect();
        let day: String = point.timestamp.chars().take(10).collect();
        _ = writeln!(
            text,
            "<circle class=\"point\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\"><title>{} {}: {}</title></circle>",
            across(index),
            up(point.score),
            escape(&day),
            escape(&commit),
            point.score
        );
    }
    text.push_str("</svg>\n");
    text
}

/// One character for each score.
pub fn sparkline(scores: impl Iterator<Item = f64>) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let bar = |score: f64| {
        let step = (score.clamp(0.0, 10.0) / 10.0 * 7.0).round();
        BARS.iter()
            .enumerate()
            .find(|(index, _)| *index as f64 >= step)
            .map_or('█', |(_, bar)| *bar)
    };
    scores.map(bar).collect()
}

/// A score for a README.
pub fn badge(value: &str, passes: Option<bool>) -> String {
    let color = match passes {
        Some(true) => "#0b6b36",
        Some(false) => "#a81e1e",
        None => "#4a525c",
    };
    const LABEL: &str = "probity review";
    // Verdana at 11 pixels has characters of about 7.
    let width = |text: &str| text.chars().count() * 7 + 12;
    let (left, right) = (width(LABEL), width(value));
    let (whole, value) = (left + right, escape(value));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{whole}\" height=\"20\" role=\"img\" \
         aria-label=\"{LABEL}: {value}\"><title>{LABEL}: {value}</title>\
         <rect width=\"{left}\" height=\"20\" fill=\"#33383e\"/>\
         <rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"{color}\"/>\
         <g fill=\"#fff\" text-anchor=\"middle\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">\
         <text x=\"{}\" y=\"14\">{LABEL}</text><text x=\"{}\" y=\"14\">{value}</text></g></svg>\n",
        left / 2,
        left + right / 2
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparkline_has_a_bar_for_each_score() {
        assert_eq!(sparkline([0.0, 5.0, 10.0, 11.0, -1.0].into_iter()), "▁▅██▁");
        assert_eq!(sparkline(std::iter::empty()), "");
    }
}
