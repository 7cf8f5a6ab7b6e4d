# this image
# is not written yet   
