// SPDX-License-Identifier: Apache-2.0
#include "launch/site_list.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <sstream>

#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

std::string site_list::path_beside(const std::string& channel) {
  // It begins as channels do, so that the file of a killed launcher is removed with its channel.
  return channel.substr(0, channel.rfind('/') + 1) + "channel-sites";
}

site_list::site_list(const std::string& channel)
    : path_(path_beside(channel)),
      file_(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600)),
      made_(file_.get() >= 0) {}

site_list::~site_list() {
  if (made_) unlink(path_.c_str());
}

void site_list::add(const listed_site& site) {
  if (file_.get() < 0) return;
  std::string line = std::to_string(site.number);
  for (const std::string* text : {&site.kind, &site.name, &site.where, &site.module})
    line += '\t' + observe::printable(*text);
  line += '\n';
  // One call, so that a reader sees whole lines, or the beginning of the last line.
  if (write(file_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) file_.reset();
}

std::vector<listed_site> parse_site_list(const std::string& text) {
  std::vector<listed_site> sites;
  std::istringstream lines(text.substr(0, text.rfind('\n') + 1));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    listed_site site;
    if (!(words >> site.number) || words.get() != '\t' || !std::getline(words, site.kind, '\t') ||
        !std::getline(words, site.name, '\t'))
      continue;
    std::getline(words, site.where, '\t');
    std::getline(words, site.module, '\t');
    sites.push_back(std::move(site));
  }
  return sites;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
